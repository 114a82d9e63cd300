// The origin of a guarded process, in a file beside its record: its working folder, its variables
// of kKeptVariables ("NAME=value"), and its arguments. A zero byte ends each text; an empty text
// separates the variables from the arguments.
#pragma once

#include <cstddef>
#include <string_view>

namespace redzone::interpose {

inline constexpr std::string_view kOriginSuffix = ".origin";

// Does not allocate. If writing fails, the file is missing or truncated.
void write_origin_file(const char* file);

// Reads a small file into `text`, with a final zero. False if it cannot be read or does not fit.
bool read_small_file(const char* file, char* text, std::size_t bytes);

}  // namespace redzone::interpose
