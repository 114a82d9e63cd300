// Decodes UTF-8 from untrusted sources, which may be malformed.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace redzone {

struct Utf8Character {
  std::size_t bytes = 1;
  std::optional<char32_t> code = std::nullopt;  // nothing: the byte is not well-formed UTF-8
};

// The first character of `text`, which is not empty (Unicode 15, table 3-7: no overlong forms, no
// surrogates).
Utf8Character first_character(std::string_view text);

// Replaces each byte that is not part of well-formed UTF-8 with U+FFFD.
std::string valid_utf8(std::string_view bytes);

// At most `bytes` bytes of valid UTF-8, cut between characters.
std::string_view cut_utf8(std::string_view text, std::size_t bytes);

}  // namespace redzone
