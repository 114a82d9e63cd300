// The memory access of the instruction at which a kernel caused an error, from cuda-gdb's output
// for the driver's core dump: the disassembled instruction and the registers of the thread in
// focus.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/trial.h"

namespace redzone::sanitizer {

struct FaultAccess {
  std::string instruction;  // "STG.E desc[UR4][R2.64], R7"; "" if the output has none
  Access access = Access::unknown;
  std::optional<std::uint64_t> address;  // of the thread in focus
};

// cuda-gdb commands that print the input of read_fault_access() and read_cuda_gdb().
std::vector<std::string> core_dump_commands(const std::string& core_dump);

// Accepts any text. The thread in focus is one that caused the error, as far as the device reports
// it.
FaultAccess read_fault_access(std::string_view output);

}  // namespace redzone::sanitizer
