#include "report/markdown.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "report/nasty.h"

namespace redzone::report {
namespace {

using namespace testing;

bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(Markdown, WhatNeedsAttentionComesFirst) {
  const std::string text = night_markdown(sample_night());
  EXPECT_TRUE(text.starts_with("# Redzone: 2 findings to look at: new or regressed\n"))
      << text.substr(0, 200);
  const auto attention = text.find("## Needs attention"), gaps = text.find("## Not judged"),
             targets = text.find("## Targets"), known = text.find("## Known"),
             plans = text.find("## Plans");
  EXPECT_LT(attention, gaps);
  EXPECT_LT(gaps, targets);
  EXPECT_LT(targets, known);
  EXPECT_LT(known, plans);
  EXPECT_NE(plans, std::string::npos);
  EXPECT_TRUE(holds(text, "`redzone replay 3`"));
  EXPECT_TRUE(holds(text, "<https://example.com/issues/7>"));
  EXPECT_TRUE(holds(text, "redzone_plan = 1\n"));
  EXPECT_FALSE(holds(text, "cut to fit"));
}

TEST(Markdown, SaysHowManyCallsWereCompared) {
  const std::string text = night_markdown(sample_night());
  EXPECT_TRUE(holds(text, "\ncompared with the reference: 612 of 1,037 calls\n"));
  EXPECT_TRUE(holds(text, "| `sample` | 12,345 | 678,901 | 612 of 1,000 |"));
  EXPECT_TRUE(holds(text, "| `large` | 9 | 20 | 0 of 37 |"));
  EXPECT_TRUE(holds(text, "| `broken` | 0 | 0 |  |"));
}

TEST(Markdown, EveryExitCodeHasItsHeading) {
  Night night = sample_night();
  night.findings.clear();
  for (const auto& [code, words] :
       std::vector<std::pair<int, std::string>>{{0, "Nothing new"},
                                                {3, "failed with a harness error"},
                                                {4, "Nothing could be judged"},
                                                {130, "Interrupted"}}) {
    night.exit_code = code;
    EXPECT_TRUE(holds(night_markdown(night).substr(0, 120), words)) << code;
  }
}

TEST(Markdown, ALinkThatIsNotToTheWebIsText) {
  Night night = sample_night();
  night.findings[2].ledger.link = "javascript:alert(1)";
  EXPECT_FALSE(holds(night_markdown(night), "<javascript:"));
  EXPECT_FALSE(holds(night_markdown(night), "](javascript:"));
}

// The number of pipes that the strictest renderer would take for the ends of cells.
std::size_t cell_ends(const std::string& line) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < line.size(); ++i)
    if (line[i] == '|' && (i == 0 || line[i - 1] != '\\')) ++count;
  return count;
}

// Each row has as many cells as its header; code blocks are skipped.
bool tables_are_whole(const std::string& text) {
  std::istringstream in(text);
  std::string fence;
  std::size_t cells = 0;
  for (std::string line; std::getline(in, line);) {
    if (!fence.empty()) {
      if (line == fence) fence.clear();
    } else if (line.starts_with("```")) {
      fence = line.substr(0, line.find_first_not_of('`'));
    } else if (line.starts_with("|")) {
      if (cells == 0) cells = cell_ends(line);
      if (cell_ends(line) != cells) return false;
    } else {
      cells = 0;
    }
  }
  return fence.empty();
}

RC_GTEST_PROP(Markdown, AnyBytesStayInTheirCells, ()) {
  const Night night = nasty_night();
  const std::string text = night_markdown(night);
  RC_ASSERT(tables_are_whole(text));
  RC_ASSERT(nlohmann::json(text).dump().size() > 0u);  // throws unless it is UTF-8
  RC_ASSERT(text.find("\r") == std::string::npos);
}

Night long_night(std::size_t findings, std::size_t plan_bytes) {
  Night night = sample_night();
  night.findings.clear();
  for (std::size_t i = 0; i < findings; ++i) {
    night.findings.push_back(
        night_finding(static_cast<std::int64_t>(i), Standing::fresh, ReplayOutcome::found));
    night.findings.back().plan = std::string(plan_bytes, 'x');
  }
  return night;
}

TEST(Markdown, ALongNightFitsAndSaysHowMuchIsMissing) {
  const std::string text = night_markdown(long_night(3000, 2000));
  EXPECT_LE(text.size(), kMostSummaryBytes);
  EXPECT_GT(text.size(), kMostSummaryBytes / 2);
  // All rows fit, but not all plans.
  EXPECT_TRUE(holds(text, "| 2999 |"));
  const auto blocks = [&] {
    std::size_t count = 0;
    for (auto at = text.find("<details>"); at != std::string::npos;
         at = text.find("<details>", at + 1))
      ++count;
    return count;
  }();
  EXPECT_GT(blocks, 100u);
  const std::string missing = std::to_string(3000 - blocks);
  EXPECT_TRUE(holds(text, "left out " + missing.substr(0, 1) + "," + missing.substr(1) +
                              " of 3,000 under “Plans of what needs attention”"))
      << text.substr(text.size() - 300);
}

TEST(Markdown, TheLimitHoldsWhateverIsLong) {
  Night night = long_night(50'000, 10);
  night.findings[0].reason = std::string(3'000'000, '|');
  night.findings[0].plan = std::string(3'000'000, '`');
  night.problem = std::string(3'000'000, '<');
  night.device = night.commit = std::string(3'000'000, '\\');
  night.not_judged.assign(50'000, {"a target", "a reason"});
  night.targets.assign(50'000, night.targets[0]);
  for (const std::size_t limit : {std::size_t{16 * 1024}, kMostSummaryBytes}) {
    const std::string text = night_markdown(night, limit);
    EXPECT_LE(text.size(), limit);
    EXPECT_TRUE(holds(text, "cut to fit"));
    EXPECT_TRUE(holds(text, "of 50,000 under “Targets”"));
    EXPECT_TRUE(tables_are_whole(text));
  }
}

}  // namespace
}  // namespace redzone::report
