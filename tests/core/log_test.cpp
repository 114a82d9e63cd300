#include "core/log.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <thread>
#include <vector>

namespace {

// Counts how often it is formatted.
struct Counted {
  int* times;
};

}  // namespace

template <>
struct fmt::formatter<Counted> : fmt::formatter<int> {
  auto format(const Counted& c, fmt::format_context& out) const {
    return fmt::formatter<int>::format(++*c.times, out);
  }
};

namespace redzone {
namespace {

class Log : public ::testing::Test {
 protected:
  ~Log() override { log::set_level(log::Level::warn); }

  template <class Body>
  static std::string written(log::Level level, Body body) {
    log::set_level(level);
    ::testing::internal::CaptureStderr();
    body();
    return ::testing::internal::GetCapturedStderr();
  }
  // Without the time.
  static std::string lines(log::Level level) {
    const std::string text = written(level, [] {
      log::debug("{}", 3);
      log::info("{}", 2);
      log::warn("{}", 1);
    });
    static const std::regex time(R"([0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3} )");
    return std::regex_replace(text, time, "@ ");
  }
};

TEST_F(Log, LevelsFollowHowOftenTheFlagIsGiven) {
  EXPECT_EQ(log::level_for(0), log::Level::warn);
  EXPECT_EQ(log::level_for(1), log::Level::info);
  EXPECT_EQ(log::level_for(2), log::Level::debug);
  EXPECT_EQ(log::level_for(9), log::Level::debug);
}

TEST_F(Log, EachLevelShowsItsLinesAndThoseAboveIt) {
  EXPECT_EQ(lines(log::Level::warn), "@ warning: 1\n");
  EXPECT_EQ(lines(log::Level::info), "@ info: 2\n@ warning: 1\n");
  EXPECT_EQ(lines(log::Level::debug), "@ debug: 3\n@ info: 2\n@ warning: 1\n");
}

TEST_F(Log, WhatIsNotShownIsNotFormatted) {
  int times = 0;
  EXPECT_EQ(written(log::Level::warn, [&] { log::info("{}", Counted{&times}); }), "");
  EXPECT_EQ(times, 0);
  EXPECT_NE(written(log::Level::info, [&] { log::info("{}", Counted{&times}); }), "");
  EXPECT_EQ(times, 1);
  EXPECT_FALSE(log::shows(log::Level::debug));
}

TEST_F(Log, ALineIsOneLineAndSteersNothing) {
  const std::string text =
      written(log::Level::warn, [] { log::warn("{}", "a\nredzone: b\r\x1b[2Jc\xff{}"); });
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  EXPECT_NE(text.find("a\\nredzone: b\\x0d\\x1b[2Jc\xef\xbf\xbd{}"), std::string::npos) << text;
}

TEST_F(Log, LinesOfSeveralThreadsStayWhole) {
  constexpr int kThreads = 4, kLines = 200;
  const std::string text = written(log::Level::info, [] {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([] {
        for (int i = 0; i < kLines; ++i) log::info("{}", std::string(80, 'x'));
      });
  });
  static const std::regex line(R"([0-9:.]+ info: x{80}\n)");
  EXPECT_EQ(std::distance(std::sregex_iterator(text.begin(), text.end(), line), {}),
            kThreads * kLines);
  EXPECT_EQ(std::regex_replace(text, line, ""), "");
}

}  // namespace
}  // namespace redzone
