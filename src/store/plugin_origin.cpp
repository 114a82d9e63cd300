#include "store/plugin_origin.h"

namespace redzone::store {
namespace {

constexpr std::string_view kPlugin = ", plugin ";

}  // namespace

std::string toolkit_of_plugin(std::string_view made_by, std::string_view file) {
  return std::string(made_by).append(kPlugin).append(file);
}

std::string plugin_of(const Environment& environment) {
  const auto at = environment.toolkit.find(kPlugin);
  return at == std::string::npos ? "" : environment.toolkit.substr(at + kPlugin.size());
}

}  // namespace redzone::store
