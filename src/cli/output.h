// All output of commands goes through here: control characters in text from targets, files and
// stores are escaped on a terminal (core/terminal.h).
#pragma once

#include <string_view>

namespace redzone::cli {

// To stdout: results.
void print_result(std::string_view text);
// Everything else, to stderr. Adds a newline if the text has none.
void print_note(std::string_view line);

// Rewrites one line on stderr. Clearing it leaves nothing behind.
void rewrite_line(std::string_view line);
void clear_line();

}  // namespace redzone::cli
