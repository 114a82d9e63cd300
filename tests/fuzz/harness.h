// Shared by the harnesses. A harness reads one input of arbitrary bytes with one reader of the
// project. It aborts the process if the reader violates an invariant; a crash, a report of a
// sanitizer, an exception and an input that takes over a second are failures, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace redzone::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Prints the invariant and aborts unless it holds.
void require(bool holds, std::string_view law);

}  // namespace redzone::fuzz
