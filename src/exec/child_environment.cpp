#include "exec/child_environment.h"

#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace redzone::exec {

std::vector<char*> environment_with(std::vector<std::string>& variables) {
  std::vector<char*> out;
  const auto is_replaced = [&](std::string_view variable) {
    return std::any_of(variables.begin(), variables.end(), [&](const std::string& one) {
      return variable.starts_with(std::string_view(one).substr(0, one.find('=') + 1));
    });
  };
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (!is_replaced(*variable)) out.push_back(*variable);
  for (auto& variable : variables) out.push_back(variable.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace redzone::exec
