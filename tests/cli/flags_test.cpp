// Conversion of command-line words to values, and the error messages, which state the correct form.
#include "cli/flags.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>

namespace redzone::cli {
namespace {

// scripts/cli_page and the tests of the README read names so.
TEST(Commands, HaveNamesOfLowerCaseLetters) {
  for (const auto& command : all_commands()) {
    if (command->internal()) continue;
    EXPECT_FALSE(command->name().empty());
    for (const char c : command->name()) EXPECT_TRUE(c >= 'a' && c <= 'z') << command->name();
  }
}

TEST(Duration, HasAUnitOrIsInSeconds) {
  using namespace std::chrono_literals;
  EXPECT_EQ(*parse_duration("90"), 90s);
  EXPECT_EQ(*parse_duration("90s"), 90s);
  EXPECT_EQ(*parse_duration("1.5s"), 1500ms);
  EXPECT_EQ(*parse_duration("500ms"), 500ms);
  EXPECT_EQ(*parse_duration("5m"), 5min);
  EXPECT_EQ(*parse_duration("2h"), 2h);
}

TEST(Duration, IsLongerThanNothingAndShorterThanForEver) {
  for (const char* text : {"", "s", "1d", "1 s", "s1", "1ss", "nan", "inf", "0x10"}) {
    const auto parsed = parse_duration(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().kind, ErrorKind::usage);
    EXPECT_NE(parsed.error().message.find("ms, s, m or h"), std::string::npos);
  }
  for (const char* text : {"0", "0s", "-1s", "0.1ms", "-2h"}) {
    const auto parsed = parse_duration(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().message, fmt::format("'{}' is less than 1ms", text));
  }
  for (const char* text : {"1e300h", "100001h"}) {
    const auto parsed = parse_duration(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().message, fmt::format("'{}' is more than 100000h", text));
  }
  EXPECT_TRUE(parse_duration("100000h"));
}

TEST(FindingNumber, IsOneFromOneOn) {
  EXPECT_EQ(*parse_id("1"), 1);
  EXPECT_EQ(*parse_id("9223372036854775807"), 9223372036854775807);
  for (const char* text : {"", "0", "-1", "+1", "1.0", "one", "1 ", "9223372036854775808"})
    EXPECT_FALSE(parse_id(text)) << text;
}

TEST(GivenFlags, AreThoseThatWereTyped) {
  po::options_description known;
  add_device_flag(known);
  add_db_flag(known);
  add_plugin_flag(known);
  add_worker_flags(known);
  add_json_flag(known);
  known.add_options()("target", po::value<std::vector<std::string>>(), "")(
      "runs", po::value<int>()->default_value(10), "");
  const auto given = [&](const std::vector<std::string>& words) {
    po::variables_map flags;
    po::store(po::command_line_parser(words).options(known).run(), flags);
    return given_flags(flags, "target");
  };
  EXPECT_EQ(given({}), "");
  EXPECT_EQ(given({"--target", "t"}), "");
  EXPECT_EQ(given({"--plugin", "a.so", "--plugin", "b.so", "--json", "--workers", "3", "--device",
                   "host", "--deadline", "2s", "--runs", "4"}),
            "--deadline 2s --device host --json --plugin a.so --plugin b.so --runs 4 --workers 3");
  EXPECT_EQ(given({"--db", "my 'store'.db", "--plugin", "$(x).so"}),
            "--db 'my '\\''store'\\''.db' --plugin '$(x).so'");
}

TEST(CountFlag, TakesNoSign) {
  const auto parsed = [](const char* text) {
    Count count;
    std::istringstream in(text);
    in >> count;
    return in.fail() ? std::nullopt : std::optional(count.value);
  };
  EXPECT_EQ(parsed("0"), 0u);
  EXPECT_EQ(parsed("18446744073709551615"), 18446744073709551615u);
  for (const char* text : {"", "-1", "-0", "x", "18446744073709551616"})
    EXPECT_EQ(parsed(text), std::nullopt) << text;
}

po::variables_map given(const std::vector<std::string>& words) {
  po::options_description flags;
  add_device_flag(flags);
  add_db_flag(flags);
  add_plugin_flag(flags);
  po::variables_map values;
  po::store(po::command_line_parser(words).options(flags).run(), values);
  po::notify(values);
  return values;
}

TEST(DeviceFlag, NamesADevice) {
  EXPECT_EQ(*chosen_device(given({"--device", "host"})), DeviceKind::host);
  const auto unknown = chosen_device(given({"--device", "gpu"}));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, ErrorKind::usage);
  EXPECT_TRUE(chosen_device(given({})));  // on any machine
}

TEST(DbFlag, IsLeftOutOfCommandsThatNeedNotNameIt) {
  EXPECT_EQ(db_for_commands(given({})), "");
  EXPECT_EQ(db_for_commands(given({"--db", "x.db"})), "x.db");
}

TEST(PluginFlag, MayBeGivenAgain) {
  const auto paths = plugin_paths(given({"--plugin", "a.so", "--plugin", "b.so"}));
  ASSERT_GE(paths.size(), 2u);
  EXPECT_EQ(paths[paths.size() - 2], "a.so");
  EXPECT_EQ(paths.back(), "b.so");
}

}  // namespace
}  // namespace redzone::cli
