// One record of compute-sanitizer's text output.
//
//     ========= Invalid __global__ write of size 4 bytes
//     =========     at oob(int *, int)+0xb0 in p.cu:8
//     =========     by thread (64,0,0) in block (0,0,0)
//     =========     Access to 0x7f05fe800100 is out of bounds
//     =========     and is 1 bytes after the nearest allocation at 0x7f05fe800000 of size 256 bytes
//     =========
//
// Pure functions on text that was read from a file; any text is accepted. The formats are those of
// version 2025.3 (tests/sanitizer/golden contains real output).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/trial.h"

namespace redzone::sanitizer {

// The meaning of a block's first line, after its "========= ".
enum class Block : std::uint8_t {
  record,
  note,     // banner, summary or remark: not about a kernel
  problem,  // the tool does not work properly, so missing records prove nothing
};

Block classify(std::string_view head);

// `lines`: the lines after the head, without prefix and indentation. Call, buffer, side and
// distance remain unset. Unrecognized records have kind "other".
SanitizerRecord parse_record(std::string_view head, std::span<const std::string> lines);

// "void ns::scan<float, 4>(int *, int)" -> "scan".
std::string function_name(std::string_view demangled);

}  // namespace redzone::sanitizer
