// The laws of the one reader of typed fields: what is wrong is named, and where.
#include "core/table_reader.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/plan.h"

namespace redzone {
namespace {

constexpr std::string_view kText = R"(count = 3
real = 1.5
yes = true
word = "abc"
numbers = [1, 2]
words = ["a", "b"]
limit = inf
day = 2026-01-02

[inner]
deep = { least = -1 }

[[row]]
name = "first"
width = 1

[[row]]
width = 2
)";

Document document_of(std::string_view text = kText) {
  return read_toml(text, "f.toml", "a test").value();
}

// The error of reading `document`; "" when there is none.
template <class Read>
std::string reading_error(const Document& document, Read read) {
  const auto result = checked_read([&] {
    TableReader root(document);
    read(root);
    return true;
  });
  if (result) return "";
  EXPECT_EQ(result.error().kind, ErrorKind::usage);
  return result.error().message;
}
template <class Read>
std::string reading_error(Read read) {
  return reading_error(document_of(), read);
}

TEST(TableReader, ReadWhatIsThere) {
  const Document document = document_of();
  TableReader f(document);
  EXPECT_EQ(f.integer("count"), 3);
  EXPECT_EQ(f.integer_in("count", 3, 3), 3);
  EXPECT_EQ(f.not_negative("count", 7), 3u);
  EXPECT_EQ(f.number("real"), 1.5);
  EXPECT_EQ(f.number("count"), 3.0);
  EXPECT_TRUE(f.flag("yes"));
  EXPECT_EQ(f.text("word"), "abc");
  EXPECT_EQ(f.string("word"), "abc");
  EXPECT_EQ(f.name("word"), "abc");
  EXPECT_EQ(f.value("word"), Value("abc"));
  EXPECT_EQ(f.value("count"), Value(std::int64_t{3}));
  EXPECT_EQ(f.integers("numbers"), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(f.texts("words"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(f.table("inner").table("deep").integer("least"), -1);
  EXPECT_EQ(f.tables("row").at(1).integer("width"), 2);
  EXPECT_EQ(f.table("inner").names(), std::vector<std::string>{"deep"});
}

TEST(TableReader, DefaultsStandForWhatIsAbsentOnly) {
  const Document document = document_of();
  TableReader f(document);
  EXPECT_EQ(f.integer("none", 8), 8);
  EXPECT_EQ(f.integer_in("none", 1, 2, 9), 9);
  EXPECT_EQ(f.not_negative("none", 7), 7u);
  EXPECT_TRUE(f.flag("none", true));
  EXPECT_EQ(f.text("none", "otherwise"), "otherwise");
  EXPECT_TRUE(f.tables("none").empty());
  EXPECT_EQ(f.integer("count", 8), 3);
  EXPECT_NE(reading_error([](TableReader& g) { g.integer("word", 8); }), "");
  EXPECT_NE(reading_error([](TableReader& g) { g.flag("word", true); }), "");
  EXPECT_NE(reading_error([](TableReader& g) { g.tables("word"); }), "");
}

TEST(TableReader, AWrongTypeIsNamedWithFieldPlaceWantedAndFound) {
  const auto deep = [](TableReader& f) { f.table("inner").table("deep").string("least"); };
  EXPECT_EQ(reading_error(deep),
            "f.toml:11:18: inner.deep.least: a string is expected, not an integer");
  EXPECT_EQ(reading_error([](TableReader& f) { f.integer("real"); }),
            "f.toml:2:8: real: an integer is expected, not a number with a point");
  EXPECT_EQ(reading_error([](TableReader& f) { f.flag("word"); }),
            "f.toml:4:8: word: true or false is expected, not a string");
  EXPECT_EQ(reading_error([](TableReader& f) { f.number("limit"); }),
            "f.toml:7:9: limit: a finite number is expected, not an infinity or no number");
  EXPECT_EQ(reading_error([](TableReader& f) { f.value("yes"); }),
            "f.toml:3:7: yes: an integer or a string is expected, not true or false");
  EXPECT_EQ(reading_error([](TableReader& f) { f.table("numbers"); }),
            "f.toml:5:11: numbers: a table is expected, not a list");
  EXPECT_EQ(reading_error([](TableReader& f) { f.tables("inner"); }),
            "f.toml:10:1: inner: a list of tables is expected, not a table");
  EXPECT_EQ(reading_error([](TableReader& f) { f.integer("day"); }),
            "f.toml:8:7: day: an integer is expected, not a value of another kind");
  EXPECT_EQ(reading_error([](TableReader& f) { f.integers("words"); }),
            "f.toml:6:10: words: an integer in the list is expected, not a string");
  EXPECT_EQ(reading_error([](TableReader& f) { f.texts("numbers"); }),
            "f.toml:5:12: numbers: a string in the list is expected, not an integer");
}

TEST(TableReader, TablesAreCalledByNameOrNumber) {
  const auto name_of_row = [](std::size_t row) {
    return reading_error([&](TableReader& f) { f.tables("row").at(row).string("width"); });
  };
  EXPECT_EQ(name_of_row(0), "f.toml:15:9: row[first].width: a string is expected, not an integer");
  EXPECT_EQ(name_of_row(1), "f.toml:18:9: row[1].width: a string is expected, not an integer");
}

TEST(TableReader, WhatIsMissingIsNamedWithItsTable) {
  EXPECT_EQ(reading_error([](TableReader& f) { f.integer("counts"); }),
            "f.toml:1:1: counts: missing");
  EXPECT_EQ(reading_error([](TableReader& f) { f.tables("row").at(1).text("name"); }),
            "f.toml:17:1: row[1].name: missing");
}

TEST(TableReader, AnUnknownFieldIsNamedWithTheNearest) {
  const Document document = document_of("count = 1\ncuont = 2\n");
  const auto read = [](TableReader& f) {
    f.integer("count");
    f.done();
  };
  EXPECT_EQ(reading_error(document, read),
            "f.toml:2:9: cuont: unknown field, did you mean 'count'?");
  // The comparison would take its length times that of each field.
  const std::string endless(1000, 'c');
  EXPECT_EQ(reading_error(document_of(endless + " = 2\n"), read).find("did you mean"),
            std::string::npos);
  // Nor is one that was only looked for.
  EXPECT_NE(reading_error(document,
                          [](TableReader& f) {
                            f.integer("count");
                            EXPECT_TRUE(f.has("cuont"));
                            f.done();
                          }),
            "");
  // One that somebody else reads is none.
  EXPECT_EQ(reading_error(document,
                          [&](TableReader& f) {
                            f.skip("cuont");
                            read(f);
                          }),
            "");
}

TEST(TableReader, NamesOfAnEnumeration) {
  const Document document = document_of("a = \"gated\"\nb = \"gatde\"\n");
  TableReader f(document);
  EXPECT_EQ(f.named<Launch>("a"), Launch::gated);
  EXPECT_EQ(reading_error(document, [](TableReader& g) { g.named<Launch>("b"); }),
            "f.toml:2:5: b: 'gatde' is not one of blocking, async, gated, did you mean 'gated'?");
}

TEST(TableReader, TextsThatArePrintedAreChecked) {
  const Document document =
      document_of("a = \"x\\u001b[2J\"\nb = \"" + std::string(3000, 'x') + "\"\n");
  TableReader f(document);
  EXPECT_EQ(f.string("a"), "x\x1b[2J");
  EXPECT_EQ(reading_error(document, [](TableReader& g) { g.text("a"); }),
            "f.toml:1:5: a: has the control character 0x1b");
  EXPECT_EQ(reading_error(document, [](TableReader& g) { g.text("b"); }),
            "f.toml:2:5: b: 3000 characters, at most 2000 are read");
}

TEST(TableReader, NothingOfADocumentSteersTheTerminalThroughAnError) {
  const Document document = document_of("\"a\\nb\\u001b\\u202e\" = \"\"\n");
  EXPECT_EQ(reading_error(document, [](TableReader& f) { f.done(); }),
            "f.toml:1:22: a\\nb\\x1b\\u202e: unknown field");
}

TEST(TableReader, NestingIsBounded) {
  std::string text = "a = ";
  for (int i = 0; i < 20; ++i) text += "[{a.a.a = ";
  text += "1";
  for (int i = 0; i < 20; ++i) text += "}]";
  const auto document = read_toml(text, "f.toml", "a test");
  ASSERT_FALSE(document);
  EXPECT_EQ(document.error().message.find("f.toml"), 0u) << document.error().message;
}

TEST(TableReader, JsonHasTheSameErrorsWithoutPlaces) {
  const Document document = read_json(R"({"a": {"b": 1}, "c": null, "d": 1.5})", "f.json").value();
  EXPECT_EQ(reading_error(document, [](TableReader& f) { f.table("a").string("b"); }),
            "f.json: a.b: a string is expected, not an integer");
  EXPECT_EQ(reading_error(document, [](TableReader& f) { f.integer("c"); }),
            "f.json: c: an integer is expected, not a value of another kind");
  EXPECT_EQ(reading_error(document, [](TableReader& f) { f.integer("e"); }), "f.json: e: missing");
  EXPECT_EQ(read_json("[1]", "f.json").error().message, "f.json: no JSON object");
}

RC_GTEST_PROP(TableReader, AnIntegerIsReadIfAndOnlyIfItIsInTheRange,
              (std::int64_t value, std::int64_t a, std::int64_t b)) {
  // As TOML has it: from -2^63 on, like C++.
  const auto [least, most] = std::minmax(a, b);
  const Document document = document_of(" n = " + std::to_string(value) + "\n");
  const auto read = [&, least = least, most = most](TableReader& f) {
    RC_ASSERT(f.integer_in("n", least, most) == value);
  };
  const std::string error = reading_error(document, read);
  if (value >= least && value <= most)
    RC_ASSERT(error.empty());
  else
    RC_ASSERT(error == "f.toml:1:6: n: " + std::to_string(value) + " is not in " +
                           std::to_string(least) + ".." + std::to_string(most));
}

RC_GTEST_PROP(TableReader, NoNegativeNumberBecomesALargeOne, (std::int64_t value)) {
  const Document document = document_of("n = " + std::to_string(value) + "\n");
  const std::string error = reading_error(
      document, [&](TableReader& f) { RC_ASSERT(std::cmp_equal(f.not_negative("n", 0), value)); });
  RC_ASSERT(error == (value < 0 ? "f.toml:1:5: n: " + std::to_string(value) + " is negative" : ""));
}

// Every field of a table is either asked for or refused, whatever is asked.
RC_GTEST_PROP(TableReader, DoneAcceptsExactlyWhatWasAskedFor, ()) {
  const auto name =
      rc::gen::map(rc::gen::inRange('a', 'h'), [](char c) { return std::string(1, c); });
  const auto names =
      rc::gen::map(rc::gen::container<std::vector<std::string>>(name),
                   [](const auto& all) { return std::set<std::string>(all.begin(), all.end()); });
  const auto present = *names, asked = *names;
  std::string text;
  for (const auto& field : present) text += field + " = 1\n";
  const Document document = document_of(text);
  const std::string error = reading_error(document, [&](TableReader& f) {
    for (const auto& field : asked) f.integer(field, 0);
    f.done();
  });
  std::vector<std::string> left;
  std::set_difference(present.begin(), present.end(), asked.begin(), asked.end(),
                      std::back_inserter(left));
  if (left.empty())
    RC_ASSERT(error.empty());
  else
    RC_ASSERT(error.find(": " + left.front() + ": unknown field") != std::string::npos);
}

}  // namespace
}  // namespace redzone
