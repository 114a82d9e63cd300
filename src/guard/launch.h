// A launch of a guarded process, as read from its record.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/enum_names.h"
#include "interpose/launch_record.h"

namespace redzone::guard {

using interpose::LaunchKind;
using interpose::LaunchState;

struct Block {
  std::uint64_t address = 0, bytes = 0;
  std::uint64_t ordinal = 0;  // 1 for the first block of the process
  bool freed = false;
};

struct Argument {
  std::uint32_t offset_bytes = 0, bytes = 0;
  std::uint64_t value = 0;  // the first 8 bytes
};

// A word of the arguments that points into a block or to its end.
struct Pointer {
  std::uint32_t offset_bytes = 0;
  std::uint64_t value = 0;
  Block block;
};

struct KernelLaunch {
  std::uint64_t ordinal = 0;  // 1 for the first launch of the process; 0: unknown launch
  LaunchState state = LaunchState::calling;
  LaunchKind kind = LaunchKind::kernel;
  std::string kernel;  // demangled; "" if the driver has not reported the name
  std::array<std::uint32_t, 3> grid{}, block{};
  std::uint32_t shared_bytes = 0;
  std::uint64_t stream = 0;
  std::uint32_t thread = 0;
  std::vector<Argument> arguments;  // empty if the driver does not report their offsets
  std::vector<Pointer> pointers;    // filled in only for a launch that a finding refers to
};

// Converts a record; drops invalid values of a damaged record.
KernelLaunch launch_of(const interpose::LaunchRecord& record);

}  // namespace redzone::guard

namespace redzone::interpose {

constexpr auto enum_table(LaunchState) {
  return enum_names<LaunchState>("state of a launch", {{LaunchState::calling, "calling"},
                                                       {LaunchState::launched, "launched"},
                                                       {LaunchState::completed, "completed"},
                                                       {LaunchState::captured, "captured"},
                                                       {LaunchState::refused, "refused"}});
}

constexpr auto enum_table(LaunchKind) {
  return enum_names<LaunchKind>("kind of launch",
                                {{LaunchKind::kernel, "kernel"}, {LaunchKind::graph, "graph"}});
}

}  // namespace redzone::interpose
