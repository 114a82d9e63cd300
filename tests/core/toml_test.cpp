// Texts made to exhaust the stack, given to every reader of TOML.
#include "core/toml.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/plan_text.h"
#include "core/repro.h"
#include "core/sample.h"

namespace redzone {
namespace {

std::string repeated(std::string_view part, std::size_t times) {
  std::string out;
  out.reserve(part.size() * times);
  for (std::size_t i = 0; i < times; ++i) out += part;
  return out;
}

constexpr std::size_t kDeep = 300'000;

// Each would need more stack than the process has.
std::vector<std::string> deep_texts() {
  const std::string dots = repeated("a.", kDeep) + "a";
  return {dots + " = 1\n",
          "[" + dots + "]\nb = 1\n",
          "[[" + dots + "]]\nb = 1\n",
          dots,  // an error after the key
          repeated("a .\t", kDeep) + "a = 1\n",
          repeated("\"=\".'[#'.", kDeep) + "a = 1\n",
          "a = \"\"\"\"x\\\"\"\"\"\"\n" + dots + " = 1\n",
          "a = '''it's'''' # '\n" + dots + " = 1\n",
          "a = \"#\\\\\" # \"\n" + dots + " = 1\n",
          "a = { " + dots + " = 1 }\n",
          "a = [[ { " + dots + " = 1 } ]]\n",
          "a = " + repeated("[", kDeep) + repeated("]", kDeep) + "\n",
          "a = " + repeated("{ a = ", kDeep) + "1" + repeated("}", kDeep) + "\n",
          "a = " + repeated("[{a.b.c.d.e.f.g.h = ", kDeep / 10) + "1"};
}

TEST(Toml, DeepTextsAreErrors) {
  for (const auto& text : deep_texts()) {
    const auto parsed = parse_toml(text);
    EXPECT_FALSE(parsed) << text.substr(0, 60);
    EXPECT_FALSE(parse_plan(text)) << text.substr(0, 60);
    EXPECT_FALSE(parse_repro(text)) << text.substr(0, 60);
  }
}

TEST(Toml, AnErrorSaysWhere) {
  const auto parsed = parse_toml("a = 1\n\n  " + repeated("b.", 400) + "c = 1\n");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().line, 3u);
  EXPECT_EQ(parsed.error().at("f.toml").rfind("f.toml:3:", 0), 0u);
  EXPECT_NE(parsed.error().what.find("16 parts"), std::string::npos);
}

TEST(Toml, CharactersBeyondAsciiStandInStringsAndCommentsOnly) {
  for (const char* text : {"\xc3\xa9 = 1\n", "a = 1\n\xc2\xa0", "a = \xc3\xa9\n", "\xff"})
    EXPECT_FALSE(parse_toml(text)) << text;
  EXPECT_TRUE(
      parse_toml("\xef\xbb\xbf"
                 "a = \"\xc3\xa9\" # \xc3\xa9\n"));
}

// At places where toml++ looks for a blank or for the end of a value. The corpora of tests/fuzz
// contain such texts, too.
static_assert(!toml::impl::is_non_ascii_horizontal_whitespace(U'\u00e9'));

TEST(Toml, CharactersBeyondAsciiAreNoBlanks) {
  const auto parsed = parse_toml("a = \"\"\"\\\n  \xc3\xa9\"\"\"\n");
  ASSERT_TRUE(parsed);
  EXPECT_EQ((*parsed)["a"].value<std::string>(), "\xc3\xa9");
  for (const char* text :
       {"a = 0\"\xc3\xa9\"\n", "a = [1.'\xc3\xa9']\n", "a = \"\"\"\\\xc3\xa9\"\"\"\n"})
    EXPECT_FALSE(parse_toml(text)) << text;
}

TEST(Toml, SizeIsBounded) {
  const auto parsed = parse_toml(std::string(kMostTomlBytes + 1, '\n'));
  ASSERT_FALSE(parsed);
  EXPECT_NE(parsed.error().what.find("bytes"), std::string::npos);
}

// toml++ takes quadratic time for such texts.
TEST(Toml, DottedTablesAreBounded) {
  std::string keys, headers;
  for (int i = 0; i < 20'000; ++i) {
    keys += "a" + std::to_string(i) + ".b = 1\n";
    headers += "[a" + std::to_string(i) + ".b]\n";
  }
  EXPECT_FALSE(parse_toml(keys));
  EXPECT_FALSE(parse_toml(headers));
}

TEST(Toml, DotsThatAreNoKeysAreNotCounted) {
  const std::string dots(100, '.');
  for (const auto& text :
       {"a = \"" + dots + "\"\n", "a = '" + dots + "'\n", "# " + dots + "\na = 1\n",
        "a = \"\"\"\n" + dots + "\n\\\"\"\" " + dots + "\"\"\"\n", "\"" + dots + "\" = 1\n",
        "a = [" + repeated("1.5, ", 100) + "]\n"}) {
    const auto parsed = parse_toml(text);
    EXPECT_TRUE(parsed) << text << parsed.error().what;
  }
}

// The deepest allowed tree can be walked and destroyed.
TEST(Toml, TheBoundsTogetherAreFarFromTheEndOfTheStack) {
  std::string key = repeated("a.", kMostKeyParts - 1) + "a", text = key + " = ";
  for (int i = 0; i < TOML_MAX_NESTED_VALUES / 2 - 1; ++i) text += "[{" + key + " = ";
  text += "1";
  for (int i = 0; i < TOML_MAX_NESTED_VALUES / 2 - 1; ++i) text += "}]";
  EXPECT_TRUE(parse_toml(text + "\n"));
}

TEST(Toml, TheLargestPlanIsRead) {
  Plan plan = testing::sample_plan();
  const Step step = plan.steps.front();
  plan.steps.assign(kMaxSteps, step);
  const auto again = parse_plan(print_plan(plan));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, plan);
}

// Parts of keys, strings and comments in any order: no input ends the process.
RC_GTEST_PROP(Toml, AnyTextIsReadOrRefused, ()) {
  const std::vector<std::string> pieces{"a",   ".",  "\"", "'", "\"\"\"", "'''", "\\", "#",
                                        "\n",  "\r", "=",  "[", "]",      "{",   "}",  ",",
                                        "1.5", " ",  "\t", "é", "\xff",   "\x1b"};
  std::string text;
  for (const auto i : *rc::gen::container<std::vector<std::size_t>>(
           rc::gen::inRange<std::size_t>(0, pieces.size())))
    text += pieces[i];
  (void)parse_toml(text + repeated("b.", 100'000) + "c = 1\n");
}

}  // namespace
}  // namespace redzone
