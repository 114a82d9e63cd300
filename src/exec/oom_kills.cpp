#include "exec/oom_kills.h"

#include <fstream>
#include <string>

namespace redzone::exec {

std::optional<std::uint64_t> oom_kills_in(std::istream& vmstat) {
  std::string name;
  std::uint64_t value = 0;
  while (vmstat >> name >> value)
    if (name == "oom_kill") return value;
  return std::nullopt;
}

std::optional<std::uint64_t> oom_kills() {
  std::ifstream file("/proc/vmstat");
  return oom_kills_in(file);
}

}  // namespace redzone::exec
