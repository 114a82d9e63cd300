#include "cli/output.h"

#include <cstdio>
#include <string>

#include "core/terminal.h"

namespace redzone::cli {
namespace {

void write(std::FILE* file, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), file);
  std::fflush(file);
}

}  // namespace

void print_result(std::string_view text) {
  write(stdout, terminal_text(text));
}

void print_note(std::string_view line) {
  write(stderr, terminal_text(line) + (line.ends_with('\n') ? "" : "\n"));
}

void rewrite_line(std::string_view line) {
  write(stderr, "\r" + printable(line) + "\033[K");
}

void clear_line() {
  write(stderr, "\r\033[K");
}

}  // namespace redzone::cli
