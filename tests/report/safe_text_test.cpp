// Invariants of escaped text for any bytes. If a parser of the format is available, it is the
// judge; for Markdown the rules are written out here.
#include "report/safe_text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "report/nasty.h"

namespace redzone::report {
namespace {

using namespace testing;

bool is_utf8(const std::string& text) {
  try {
    return !nlohmann::json(text).dump().empty();
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

RC_GTEST_PROP(ValidUtf8, IsValidAndLeavesWhatIsValid, ()) {
  const std::string bytes = *nasty_text();
  const std::string text = valid_utf8(bytes);
  RC_ASSERT(is_utf8(text));
  RC_ASSERT(valid_utf8(text) == text);
  if (is_utf8(bytes)) RC_ASSERT(text == bytes);
}

TEST(ValidUtf8, ReplacesEachByteThatBelongsToNoCharacter) {
  const std::string bad = "\xef\xbf\xbd";
  EXPECT_EQ(valid_utf8("a\xff"
                       "b"),
            "a" + bad + "b");
  EXPECT_EQ(valid_utf8("\xc0\xaf"), bad + bad);            // overlong
  EXPECT_EQ(valid_utf8("\xed\xa0\x80"), bad + bad + bad);  // a surrogate
  EXPECT_EQ(valid_utf8("\xf0\x9f\x98"), bad + bad + bad);  // cut off
  EXPECT_EQ(valid_utf8("\xf0\x9f\x98\x80é"), "\xf0\x9f\x98\x80é");
}

RC_GTEST_PROP(XmlCharacters, HoldNothingThatXmlDoesNotHave, ()) {
  const std::string text = xml_characters(*nasty_text());
  for (const char c : text)
    RC_ASSERT(static_cast<unsigned char>(c) >= 0x20 || c == '\t' || c == '\n' || c == '\r');
  RC_ASSERT(text.find("\xef\xbf\xbe") == std::string::npos);
  RC_ASSERT(text.find("\xef\xbf\xbf") == std::string::npos);
  RC_ASSERT(is_utf8(text));
}

TEST(XmlCharacters, KeepsWhatXmlHas) {
  EXPECT_EQ(xml_characters("a\tb\nc <&>é"), "a\tb\nc <&>é");
  EXPECT_EQ(xml_characters(std::string_view("\0\x1b", 2)), "\xef\xbf\xbd\xef\xbf\xbd");
}

RC_GTEST_PROP(JsonInHtml, IsTheSameJsonAndEndsNoElement, ()) {
  const nlohmann::json value{{valid_utf8(*nasty_text()), valid_utf8(*nasty_text())}};
  const std::string html = json_in_html(value.dump());
  RC_ASSERT(html.find_first_of("<>&") == std::string::npos);
  RC_ASSERT(html.find("\xe2\x80\xa8") == std::string::npos);
  RC_ASSERT(html.find("\xe2\x80\xa9") == std::string::npos);
  RC_ASSERT(nlohmann::json::parse(html) == value);
}

TEST(WebLink, IsForTheWebOnly) {
  for (const char* good : {"https://example.com/issues/7", "http://ci:8080/a?b=c&d=%20#e"})
    EXPECT_EQ(web_link(good), good);
  for (const char* bad :
       {"", "javascript:alert(1)", "JavaScript:alert(1)", "data:text/html,x", "//example.com",
        "/issues/7", "https://", "https:///path", "https:example.com", " https://example.com",
        "https://example.com/\"onclick=", "https://example.com/<b>", "https://example.com/a b",
        "https://example.com/\n", "https://example.com/)", "https://exa\xc3\xa4mple.com",
        "ftp://x"})
    EXPECT_FALSE(web_link(bad)) << bad;
}

RC_GTEST_PROP(WebLink, HoldsNothingThatEndsAnything, ()) {
  const auto link = web_link("https://example.com/" + *nasty_text());
  if (link) RC_ASSERT(link->find_first_of("<>\"'`\\ \n|()[]{}") == std::string::npos);
}

// The text that GitHub's renderer shows for the escaped text; nullopt if a character would be
// interpreted.
std::optional<std::string> shown(const std::string& markdown) {
  const std::string punctuation = "\\`*_[]|~$";
  std::string out;
  for (std::size_t i = 0; i < markdown.size(); ++i) {
    const std::string_view rest = std::string_view(markdown).substr(i);
    if (rest.starts_with("&lt;"))
      out += '<', i += 3;
    else if (rest.starts_with("&gt;"))
      out += '>', i += 3;
    else if (rest.starts_with("&amp;"))
      out += '&', i += 4;
    else if (rest[0] == '\\' && rest.size() > 1 && punctuation.find(rest[1]) != std::string::npos)
      out += rest[1], ++i;
    else if (punctuation.find(rest[0]) != std::string::npos || rest[0] == '<' || rest[0] == '&' ||
             static_cast<unsigned char>(rest[0]) < 0x20)
      return std::nullopt;
    else
      out += rest[0];
  }
  return out;
}

RC_GTEST_PROP(MarkdownText, ShowsTheTextAndNothingElse, ()) {
  const std::string bytes = *nasty_text();
  const std::string text = markdown_text(bytes);
  RC_ASSERT(is_utf8(text));
  const auto read = shown(text);
  RC_ASSERT(read.has_value());
  // Unchanged if nothing in it had to be replaced.
  const bool plain = is_utf8(bytes) && std::all_of(bytes.begin(), bytes.end(), [](char c) {
                       return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f && c != '\xc2' &&
                              c != '\xd8' && c != '\xe2';
                     });
  if (plain) RC_ASSERT(*read == bytes);
}

TEST(MarkdownText, HasNothingThatReordersText) {
  for (const std::string steering : {"\u061c", "\u200e", "\u202e", "\u2066", "\u2028"}) {
    EXPECT_EQ(markdown_text("a" + steering + "b"), "a\ufffdb");
    EXPECT_EQ(markdown_cell_code("a" + steering + "b"), "`a\ufffdb`");
  }
}

// The contents of the code span that makes up all of `cell`, after GitHub has unescaped the pipes
// of a table; nullopt if it ends early or a pipe would end the cell.
std::optional<std::string> code_in(const std::string& cell) {
  std::string text;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    if (cell[i] == '|' && (i == 0 || cell[i - 1] != '\\')) return std::nullopt;
    if (cell[i] == '\\' && i + 1 < cell.size() && cell[i + 1] == '|') continue;
    text += cell[i];
  }
  const std::size_t ticks = text.find_first_not_of('`');
  if (ticks == 0 || ticks == std::string::npos) return std::nullopt;
  for (std::size_t at = ticks; at < text.size();) {
    const std::size_t begin = text.find('`', at);
    if (begin == std::string::npos) return std::nullopt;
    const std::size_t end = std::min(text.find_first_not_of('`', begin), text.size());
    if (end - begin == ticks)
      return end == text.size() ? std::optional(text.substr(ticks, begin - ticks)) : std::nullopt;
    at = end;
  }
  return std::nullopt;
}

RC_GTEST_PROP(MarkdownCellCode, IsOneSpanThatShowsTheText, ()) {
  const std::string bytes = *nasty_text();
  const std::string cell = markdown_cell_code(bytes);
  RC_ASSERT(is_utf8(cell));
  const auto code = code_in(cell);
  RC_ASSERT(code.has_value());
  const bool plain =
      std::all_of(bytes.begin(), bytes.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
  const auto trimmed = [](std::string text) {
    text.erase(text.find_last_not_of(' ') + 1);
    return text.erase(0, text.find_first_not_of(' '));
  };
  if (plain) RC_ASSERT(trimmed(*code) == trimmed(bytes));
}

RC_GTEST_PROP(MarkdownBlock, EndsAtItsLastLineOnly, ()) {
  const std::string block = markdown_block(*nasty_text(), "toml");
  RC_ASSERT(is_utf8(block));
  std::vector<std::string> lines;
  std::istringstream in(block);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  RC_ASSERT(lines.size() >= 2u);
  const std::string fence = lines.back();
  RC_ASSERT(fence.size() >= 3u);
  RC_ASSERT(lines.front() == fence + "toml");
  for (std::size_t i = 1; i + 1 < lines.size(); ++i)
    RC_ASSERT(lines[i].find(fence) == std::string::npos);
}

RC_GTEST_PROP(CutUtf8, CutsBetweenCharacters, ()) {
  const std::string text = valid_utf8(*nasty_text());
  const auto bytes = *rc::gen::inRange<std::size_t>(0, text.size() + 2);
  const std::string cut(cut_utf8(text, bytes));
  RC_ASSERT(is_utf8(cut));
  RC_ASSERT(cut.size() <= bytes);
  RC_ASSERT(text.starts_with(cut));
  RC_ASSERT(cut.size() + 4 > std::min(bytes, text.size()));
}

}  // namespace
}  // namespace redzone::report
