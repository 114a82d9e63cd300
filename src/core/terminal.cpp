#include "core/terminal.h"

#include <fmt/format.h>

#include "core/utf8.h"

namespace redzone {
namespace {

std::string escape(char32_t c) {
  if (c == '\n') return "\\n";
  if (c == '\t') return "\\t";
  const auto number = static_cast<std::uint32_t>(c);
  return c < 0x20 ? fmt::format("\\x{:02x}", number) : fmt::format("\\u{:04x}", number);
}

// Escapes all control and reordering characters except those in `kept`.
std::string disarmed(std::string_view bytes, std::string_view kept) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const Utf8Character c = first_character(bytes);
    const std::string_view own = bytes.substr(0, c.bytes);
    if (!c.code)
      out += "\xef\xbf\xbd";
    else if (is_steering(*c.code) && kept.find(own) == std::string_view::npos)
      out += escape(*c.code);
    else
      out += own;
    bytes.remove_prefix(c.bytes);
  }
  return out;
}

}  // namespace

bool is_steering(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c || c == 0x200e || c == 0x200f ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

std::string printable(std::string_view bytes) {
  return disarmed(bytes, "");
}

std::string terminal_text(std::string_view bytes) {
  return disarmed(bytes, "\n\t");
}

std::string shell_quoted(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:@%,";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos)
    return std::string(word);
  std::string plain, escaped;
  bool steers = false;
  while (!word.empty()) {
    const Utf8Character c = first_character(word);
    const std::string_view own = word.substr(0, c.bytes);
    word.remove_prefix(c.bytes);
    plain += own == "'" ? "'\\''" : own;
    if (!c.code || is_steering(*c.code)) {
      steers = true;
      for (const char byte : own)
        escaped += fmt::format("\\{:03o}", static_cast<unsigned char>(byte));
    } else {
      if (own == "'" || own == "\\") escaped += '\\';
      escaped += own;
    }
  }
  return steers ? "$'" + escaped + "'" : "'" + plain + "'";
}

std::string shell_quoted(std::span<const std::string> words) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : " ") + shell_quoted(word);
  return out;
}

}  // namespace redzone
