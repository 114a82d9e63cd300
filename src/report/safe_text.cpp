#include "report/safe_text.h"

#include <algorithm>
#include <cstdint>

#include "core/terminal.h"
#include "core/utf8.h"

namespace redzone::report {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

// Replaces each character for which `keep` returns false, and malformed UTF-8, by U+FFFD.
template <class Keep>
std::string filtered(std::string_view bytes, Keep keep) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const Utf8Character c = first_character(bytes);
    out += c.code && keep(*c.code) ? bytes.substr(0, c.bytes) : kReplacement;
    bytes.remove_prefix(c.bytes);
  }
  return out;
}

// One line, without characters that control a terminal or reorder text.
std::string one_line(std::string_view text) {
  std::string spaced(text);
  std::replace_if(
      spaced.begin(), spaced.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; },
      ' ');
  return filtered(spaced, [](char32_t c) { return !is_steering(c); });
}

std::size_t longest_run(std::string_view text, char of) {
  std::size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == of ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

}  // namespace

std::string xml_characters(std::string_view bytes) {
  return filtered(bytes, [](char32_t c) {
    return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c != 0xfffe && c != 0xffff);
  });
}

std::string json_in_html(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::string_view rest = json.substr(i);
    if (json[i] == '<')
      out += "\\u003c";
    else if (json[i] == '>')
      out += "\\u003e";
    else if (json[i] == '&')
      out += "\\u0026";
    else if (rest.starts_with("\xe2\x80\xa8"))
      out += "\\u2028", i += 2;
    else if (rest.starts_with("\xe2\x80\xa9"))
      out += "\\u2029", i += 2;
    else
      out += json[i];
  }
  return out;
}

std::optional<std::string> web_link(std::string_view link) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/?#@!$&*+,;=%";
  std::string_view rest = link;
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (!rest.starts_with(scheme)) continue;
    rest.remove_prefix(scheme.size());
    const bool has_host = !rest.empty() && std::string_view("/?#:@").find(rest[0]) == rest.npos;
    if (has_host && rest.find_first_not_of(kAllowed) == rest.npos) return std::string(link);
    return std::nullopt;
  }
  return std::nullopt;
}

std::string markdown_text(std::string_view text) {
  std::string out;
  for (const char c : one_line(text)) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (std::string_view("\\`*_[]|~$").find(c) != std::string_view::npos)
      out += '\\', out += c;
    else
      out += c;
  }
  return out;
}

std::string markdown_cell_code(std::string_view text) {
  const std::string line = one_line(text);
  if (line.find_first_not_of(' ') == std::string::npos) return "` `";
  std::string inner;
  for (const char c : line) {
    if (c == '|') inner += '\\';
    inner += c;
  }
  const std::string ticks(longest_run(inner, '`') + 1, '`');
  // Markdown strips one space on each side; the space separates a backtick at the edge.
  const bool edge =
      inner.front() == '`' || inner.back() == '`' || (inner.front() == ' ' && inner.back() == ' ');
  const std::string_view space = edge ? " " : "";
  return ticks + std::string(space) + inner + std::string(space) + ticks;
}

std::string markdown_block(std::string_view text, std::string_view language) {
  const std::string body =
      filtered(text, [](char32_t c) { return c == '\n' || c == '\t' || !is_steering(c); });
  const std::string fence(std::max<std::size_t>(3, longest_run(body, '`') + 1), '`');
  std::string out = fence + std::string(language) + '\n' + body;
  if (!out.ends_with('\n')) out += '\n';
  return out + fence + '\n';
}

}  // namespace redzone::report
