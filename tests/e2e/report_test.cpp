// `redzone report`: a night of the store in every format.
#include <gtest/gtest.h>

#include <map>

#include "e2e/cli.h"
#include "report/night_formats.h"

namespace redzone::e2e {
namespace {

Ran report_of(const TempFolder& folder, Arguments more) {
  more.insert(more.begin(), {"report", "--db", "n.db"});
  return redzone(folder, more);
}

Json findings_of(const std::string& text) {
  return Json::parse(text)["night"]["findings"];
}

void expect_every_format(const TempFolder& folder) {
  for (const auto& [format, part] :
       std::map<std::string, std::string>{{"html", "<!DOCTYPE html>"},
                                          {"junit", "<testsuites "},
                                          {"markdown", "# Redzone: "},
                                          {"sarif", "\"version\": \"2.1.0\""},
                                          {"text", "night 1 on host"}}) {
    const Ran ran = report_of(folder, {"--format", format});
    EXPECT_EQ(ran.exit, 0) << ran;
    EXPECT_NE(ran.out.find(part), std::string::npos) << format;
    EXPECT_NE(ran.out.find("uninitialized: y (puzzle.stale_grid)"), std::string::npos) << format;
  }
  for (const auto& format : report::night_formats()) {
    const Ran ran = report_of(folder, {"--format", std::string(format.name)});
    EXPECT_NE(ran.out.find("puzzle.stale_grid"), std::string::npos) << format.name;
    EXPECT_FALSE(read_text(folder / ("r/" + std::string(format.file))).empty()) << format.file;
  }
  const Ran ran = report_of(folder, {"--format", "html", "--out", "page.html"});
  EXPECT_EQ(ran.exit, 0) << ran;
  EXPECT_EQ(ran.out, "");
  EXPECT_TRUE(read_text(folder / "page.html").starts_with("<!DOCTYPE html>"));
  EXPECT_EQ(report_of(folder, {"--out", "no/such/folder/page.html"}).exit, 2);
}

void expect_a_bisection_made_since(const TempFolder& folder) {
  const Json finding = findings_of(report_of(folder, {"--format", "json"}).out)[0];
  EXPECT_TRUE(finding["tables"].empty());
  const Ran bisected = redzone(folder, {"bisect", std::to_string(finding["id"].get<int>()), "--db",
                                        "n.db", "--device", "host", "--time", "4s"});
  ASSERT_EQ(bisected.exit, 1) << bisected;
  const Json tables = findings_of(report_of(folder, {"--format", "json"}).out)[0]["tables"];
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables[0]["columns"][0], "setting");
  EXPECT_GT(tables[0]["rows"].size(), 3u);
  // The same sentence as in the output of `bisect`.
  EXPECT_NE(bisected.out.find(tables[0]["title"].get<std::string>()), std::string::npos)
      << bisected;
}

TEST(Report, SaysWhatTheNightSaidAndWhatWasBisectedSince) {
  const TempFolder folder;
  const Ran night =
      redzone(folder, {"nightly", "puzzle.stale_grid", "--plans", "30", "--time", "20s", "--seed",
                       "1", "--device", "host", "--db", "n.db", "--report", "r"});
  ASSERT_EQ(night.exit, 1) << night;
  const Ran ran = report_of(folder, {"--format", "json"});
  ASSERT_EQ(ran.exit, 0) << ran;
  EXPECT_EQ(findings_of(ran.out), findings_of(read_text(folder / "r/night.json")));
  EXPECT_EQ(ran.json()["night"]["exit_code"], 1);
  expect_every_format(folder);
  expect_a_bisection_made_since(folder);

  const Ran format = report_of(folder, {"--format", "pdf"});
  EXPECT_EQ(format.exit, 2);
  for (const char* name : {"pdf", "html", "sarif", "text"})
    EXPECT_NE(format.err.find(name), std::string::npos) << format;
  EXPECT_EQ(report_of(folder, {"--night", "99"}).exit, 2);
}

TEST(Report, NeedsAStore) {
  const TempFolder empty;
  EXPECT_EQ(report_of(empty, {}).exit, 2);
}

}  // namespace
}  // namespace redzone::e2e
