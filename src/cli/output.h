// All that a command prints goes through here: what comes from targets, files and stores reaches a
// terminal with its control characters escaped (core/terminal.h).
#pragma once

#include <string_view>

namespace redzone::cli {

// To stdout: results.
void print_result(std::string_view text);
// To stderr: what is no result. Ends with a newline, also where the text has none.
void print_note(std::string_view line);

// A line on stderr that is written over again. Nothing of it is left once it is cleared.
void rewrite_line(std::string_view line);
void clear_line();

}  // namespace redzone::cli
