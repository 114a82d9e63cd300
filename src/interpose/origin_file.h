// What a guarded process was started as, in a file beside its record: its working folder, its
// variables of kKeptVariables, its arguments. Each is ended by a zero byte; an empty text is
// between the variables ("NAME=value") and the arguments.
#pragma once

#include <cstddef>
#include <string_view>

namespace redzone::interpose {

inline constexpr std::string_view kOriginSuffix = ".origin";

// Allocates nothing. A file that cannot be written is left out, or ends early.
void write_origin_file(const char* file);

// Reads a small file into `text`, with a final zero. False if it cannot be read or does not fit.
bool read_small_file(const char* file, char* text, std::size_t bytes);

}  // namespace redzone::interpose
