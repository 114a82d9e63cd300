#include "core/target_text.h"

#include "core/terminal.h"
#include "core/utf8.h"

namespace redzone {

std::string target_text(std::string_view text, std::size_t most_bytes) {
  // A character that begins in time has its end here, too. Bytes that are no character get longer.
  constexpr std::size_t kRestOfCharacter = 3;
  std::string begin = valid_utf8(text.substr(0, most_bytes + kRestOfCharacter));
  if (begin.size() <= most_bytes && text.size() <= most_bytes) return begin;
  return std::string(cut_utf8(begin, most_bytes)) + " [cut]";
}

std::string target_line(std::string_view text) {
  return printable(target_text(text));
}

}  // namespace redzone
