// Values of dims, as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redzone::bisect {

// Shown as the value of an axis of all calls if the calls have different values.
inline constexpr std::string_view kDiffers = "differs";

// "1, 2, 3", or the first of many: "1, 2, 3 and 9 more".
std::string some_of(const std::vector<std::int64_t>& values);

// The integer at the start of the text, as in "64 (T = 64)".
std::optional<std::int64_t> leading_number(const std::string& text);

}  // namespace redzone::bisect
