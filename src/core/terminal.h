// Text that came from a target, a file or a store, made fit for a terminal and for a shell: nothing
// of it can move the cursor, change the order of what is read, or run.
#pragma once

#include <string>
#include <string_view>

namespace redzone {

// As one line: control characters, U+2028 and U+2029, and those that change the direction of the
// text become escapes ("\n", "\x1b", "\u009b"); what is not well-formed UTF-8 becomes U+FFFD.
std::string printable(std::string_view bytes);

// The same of a text of several lines: '\n' and '\t' stay. JSON stays the same JSON: within its
// strings only characters from U+007F on are left to escape, and their escapes are JSON's.
std::string terminal_text(std::string_view bytes);

// A word of a command line that a person may paste: as it is, or in single quotes, within which a
// shell reads everything as it stands; with characters that printable() escapes, or bytes that are
// no UTF-8, as $'...' with octal escapes (bash, ksh, zsh; POSIX.1-2024), which is the same bytes.
std::string shell_quoted(std::string_view word);

}  // namespace redzone
