#include "sanitizer/cuda_gdb.h"

#include <cstddef>

namespace redzone::sanitizer {
namespace {

// The text after `before` on its line, without leading and trailing spaces.
std::string_view rest_of_line(std::string_view text, std::string_view before) {
  const auto at = text.find(before);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + before.size());
  text = text.substr(0, text.find('\n'));
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

// Start of the group of parentheses that ends `text`; npos if there is none.
std::size_t last_group(std::string_view text) {
  if (text.empty() || text.back() != ')') return std::string_view::npos;
  int depth = 0;
  for (std::size_t i = text.size(); i > 0; --i) {
    depth += text[i - 1] == ')' ? 1 : text[i - 1] == '(' ? -1 : 0;
    if (depth == 0) return i - 1;
  }
  return std::string_view::npos;
}

void trim_end(std::string_view& text) {
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
}

Attribution gdb_said(std::string_view detail) {
  return {.source = std::string(kCoreDump), .detail = std::string(detail)};
}

}  // namespace

std::vector<std::string> cuda_gdb_words(const std::string& cuda_gdb,
                                        std::span<const std::string> commands) {
  // The shell, because env takes a path that contains '=' as a variable.
  std::vector<std::string> words{"/usr/bin/env",      "-u",     "LD_PRELOAD", "sh",    "-c",
                                 R"(exec "$0" "$@")", cuda_gdb, "-nx",        "-batch"};
  for (const std::string& command : commands) words.insert(words.end(), {"-ex", command});
  return words;
}

// "The exception was triggered at PC 0x7f215f7ac280  farkernel(int*)  (q.cu:4)"
Attribution read_cuda_gdb(std::string_view output) {
  const std::string_view exception = rest_of_line(output, "CUDA Exception:");
  std::string_view where = rest_of_line(output, "The exception was triggered at PC 0x");
  if (exception.empty() && where.empty())
    return gdb_said("cuda-gdb reports no exception in the core dump");
  Attribution a = gdb_said(exception);
  const auto address_end = where.find(' ');
  where = address_end == std::string_view::npos ? std::string_view() : where.substr(address_end);
  while (!where.empty() && where.front() == ' ') where.remove_prefix(1);
  if (const auto group = last_group(where); group != std::string_view::npos) {
    const std::string_view inside = where.substr(group + 1, where.size() - group - 2);
    const auto colon = inside.rfind(':');
    if (colon != std::string_view::npos && colon + 1 < inside.size() &&
        inside.find_first_not_of("0123456789", colon + 1) == std::string_view::npos) {
      a.location = inside;
      where = where.substr(0, group);
      trim_end(where);
    }
  }
  a.kernel = bare_kernel(where);
  return a;
}

std::string_view bare_kernel(std::string_view name) {
  if (const auto group = last_group(name); group != std::string_view::npos && group > 0)
    name = name.substr(0, group);
  trim_end(name);
  if (name.starts_with("void ")) name.remove_prefix(5);
  return name;
}

}  // namespace redzone::sanitizer
