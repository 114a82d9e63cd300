// Makes text from a target, a file or a store safe for a terminal and for a shell: the text cannot
// move the cursor, change reading order, or execute.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace redzone {

// True for characters that control a terminal or reorder text.
bool is_steering(char32_t c);

// The text as one line: control characters, U+2028 and U+2029, and bidirectional controls become
// escapes ("\n", "\x1b", "\u009b"); bytes that are not well-formed UTF-8 become U+FFFD.
std::string printable(std::string_view bytes);

// Like printable(), for text of several lines: '\n' and '\t' are kept. JSON keeps its meaning: only
// characters from U+007F on in its strings need escapes, and these escapes are valid in JSON.
std::string terminal_text(std::string_view bytes);

// A word for a command line that a user may paste: unquoted if possible, else in single quotes. A
// word with characters that printable() escapes, or with bytes that are not UTF-8, is written as
// $'...' with octal escapes (bash, ksh, zsh; POSIX.1-2024), which yields the same bytes.
std::string shell_quoted(std::string_view word);
// All words of a command line, each quoted, separated by spaces.
std::string shell_quoted(std::span<const std::string> words);

}  // namespace redzone
