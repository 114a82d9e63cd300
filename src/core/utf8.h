// Decoding of UTF-8 from outside, which may be malformed.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace redzone {

struct Utf8Character {
  std::size_t bytes = 1;
  std::optional<char32_t> code = std::nullopt;  // nothing: the byte is not part of UTF-8
};

// The first character of `text`, which is not empty (Unicode 15, table 3-7: no overlong forms, no
// surrogates).
Utf8Character first_character(std::string_view text);

// Each byte that is not part of well-formed UTF-8 becomes U+FFFD.
std::string valid_utf8(std::string_view bytes);

}  // namespace redzone
