// The page as text. Its behaviour in a browser is tested in page_test.py.
#include "report/html.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>

#include "report/nasty.h"
#include "report/night_formats.h"
#include "report/night_words.h"
#include "report/safe_text.h"

namespace redzone::report {
namespace {

using namespace testing;
using Json = nlohmann::json;

constexpr std::string_view kBegin = R"(<script id="night" type="application/json">)";
constexpr std::string_view kEnd = "</script>";

// The contents of the element as a browser parses them.
std::string data_in(const std::string& page) {
  const auto begin = page.find(kBegin) + kBegin.size();
  return page.substr(begin, page.find(kEnd, begin) - begin);
}

std::string without_data(std::string page) {
  const auto begin = page.find(kBegin) + kBegin.size();
  return page.erase(begin, page.find(kEnd, begin) - begin);
}

TEST(Html, HoldsTheNightAndNeedsNothingElse) {
  const std::string page = night_html(sample_night());
  const Json data = Json::parse(data_in(page));
  EXPECT_EQ(data["report"], Json::parse(night_json(sample_night())));
  EXPECT_EQ(data["seed"], "18364758544493064720");
  EXPECT_EQ(data["left_out"], 0);
  const std::string frame = without_data(page);
  for (const char* outside : {"src=", "href=\"http", "@import", "url(", "{{", "fetch(",
                              "XMLHttpRequest", "innerHTML", "eval("})
    EXPECT_EQ(frame.find(outside), std::string::npos) << outside;
}

TEST(Html, TheMostUrgentOfManyFindingsAreOnThePage) {
  Night night = sample_night();
  night.findings.clear();
  for (std::int64_t i = 0; i < 2'500; ++i)
    night.findings.push_back(night_finding(i, Standing::fresh, ReplayOutcome::found));
  night.findings[0].ledger.standing = Standing::known;
  const Json data = Json::parse(data_in(night_html(night)));
  EXPECT_EQ(data["left_out"], 500);
  EXPECT_EQ(data["alarms"], 2'499) << "the totals are of all";
  EXPECT_EQ(data["standings"], (Json{{"new", 2'499}, {"known", 1}}));
  EXPECT_EQ(data["report"]["night"]["findings"].size(), 2'000u);
  EXPECT_EQ(data["report"]["night"]["findings"][1'999]["id"], 1'999);
}

TEST(Html, EveryExitCodeHasItsSentence) {
  Night night = sample_night();
  for (const int code : {0, 1, 2, 3, 4, 130}) {
    night.exit_code = code;
    EXPECT_EQ(Json::parse(data_in(night_html(night)))["verdict"], exit_sentence(code));
  }
}

TEST(Html, ALinkThatIsNotToTheWebIsANote) {
  Night night = sample_night();
  night.findings[2].ledger.link = "javascript:alert(1)";
  const Json ledger =
      Json::parse(data_in(night_html(night)))["report"]["night"]["findings"][2]["ledger"];
  EXPECT_EQ(ledger["link"], "");
  EXPECT_EQ(ledger["note"], "javascript:alert(1)");
}

RC_GTEST_PROP(NightText, IsUtf8WhateverTheNightHolds, ()) {
  const std::string text = night_text(nasty_night());
  RC_ASSERT(valid_utf8(text) == text);
}

RC_GTEST_PROP(Html, NoTextLeavesTheData, ()) {
  static const std::string frame = without_data(night_html(sample_night()));
  const Night night = nasty_night();
  const std::string page = night_html(night);
  RC_ASSERT(without_data(page) == frame);
  RC_ASSERT(data_in(page).find_first_of("<>&") == std::string::npos);
  const Json data = Json::parse(data_in(page));  // throws unless it is UTF-8
  RC_ASSERT(data["report"]["night"]["findings"].size() == night.findings.size());
}

}  // namespace
}  // namespace redzone::report
