// Six nights: a bug appears, stays, is fixed, and returns.
#include "e2e/nights.h"

#include <iterator>
#include <pugixml.hpp>
#include <sstream>

#include "report/night_formats.h"

namespace redzone::e2e {
namespace {

constexpr const char* kLink = "https://example.com/issues/7";

class SixNights : public NightsTest {
 protected:
  // Runs one night. Its exit code must be the one in the report, and the text must agree with the
  // JSON.
  Json one(int exit) {
    const Ran ran = redzone(folder_, night({"--plans", "60", "--seed", "1"}));
    EXPECT_EQ(ran.exit, exit) << ran;
    const Json night = report();
    EXPECT_EQ(night["exit_code"], exit);
    EXPECT_EQ(ran.out, read_text(folder_ / "out/night.txt"));
    EXPECT_GE(night["planted_bugs_caught"], 6);
    expect_exit(exit, exit == 0   ? "Nothing new."
                      : exit == 1 ? "New or regressed findings."
                                  : "Nothing could be judged, or a requested target or plan was "
                                    "not: this night is not a pass.");
    return night;
  }

  void expect_one(const Json& night, const char* standing, const char* tonight, bool alarm) {
    ASSERT_EQ(night["findings"].size(), 1u) << night;
    const Json& f = night["findings"][0];
    EXPECT_EQ(f["signature"]["text"], "redzone: write after y (gains.doubled)");
    EXPECT_EQ(f["ledger"]["standing"], standing);
    EXPECT_EQ(f["tonight"], tonight);
    EXPECT_EQ(f["alarm"], alarm);
    EXPECT_EQ(f["replay"], "redzone replay 1 --plugin " + plugin() + " --db x.db");
    EXPECT_EQ(night["trend"].back()["findings"][standing], 1);
    const std::string text = read_text(folder_ / "out/night.txt");
    for (const char* word : {standing, tonight})
      EXPECT_NE(text.find(word), std::string::npos) << text;
    expect_in_other_formats(standing, tonight, alarm);
  }

  // Checks each other format by parsing it like its readers.
  void expect_in_other_formats(const std::string& standing, const std::string& tonight,
                               bool alarm) {
    expect_in_page(standing, tonight, alarm);
    expect_in_summary(standing, tonight, alarm);
    expect_in_sarif(standing, tonight, alarm);
    expect_in_junit(standing, tonight, alarm);
  }

  Json page() const {
    const std::string html = read_text(folder_ / "out/index.html");
    const std::string begin = R"(<script id="night" type="application/json">)";
    const auto from = html.find(begin) + begin.size();
    return Json::parse(html.substr(from, html.find("</script>", from) - from));
  }
  Json sarif() const { return Json::parse(read_text(folder_ / "out/redzone.sarif"))["runs"][0]; }
  pugi::xml_document junit() const {
    pugi::xml_document document;
    EXPECT_TRUE(document.load_string(read_text(folder_ / "out/junit.xml").c_str()));
    return document;
  }

  void expect_exit(int exit, const std::string& words) {
    EXPECT_EQ(page()["report"]["night"]["exit_code"], exit);
    EXPECT_EQ(page()["verdict"].get<std::string>().find(words), 0u) << page()["verdict"];
    const Json invocation = sarif()["invocations"][0];
    EXPECT_EQ(invocation["exitCode"], exit);
    EXPECT_EQ(invocation["executionSuccessful"], exit <= 1);
    const auto document = junit();
    const auto night = document.select_node("//testsuite[@name='night']/testcase").node();
    EXPECT_EQ(!night.child("error").empty(), exit > 1);
    const std::string said = exit > 1 ? night.child("error").attribute("message").value() : words;
    EXPECT_EQ(said.find(words), 0u) << said;
    const std::string summary = read_text(folder_ / "out/summary.md");
    EXPECT_NE(summary.substr(0, 120).find(words), std::string::npos) << summary.substr(0, 120);
  }

  void expect_in_page(const std::string& standing, const std::string& tonight, bool alarm) {
    const Json data = page();
    EXPECT_EQ(data["alarms"], alarm ? 1 : 0);
    EXPECT_EQ(data["standings"], (Json{{standing, 1}}));
    const Json f = data["report"]["night"]["findings"].at(0);
    EXPECT_EQ(f["ledger"]["standing"], standing);
    EXPECT_EQ(f["tonight"], tonight);
    EXPECT_EQ(f["alarm"], alarm);
  }

  // "| 1 | known <LINK> | `SIGNATURE` | still fails, 4 of 4 runs failed | `REPLAY` |"
  void expect_in_summary(const std::string& standing, const std::string& tonight, bool alarm) {
    std::istringstream summary(read_text(folder_ / "out/summary.md"));
    std::string heading;
    std::vector<std::string> cells;
    for (std::string line; cells.empty() && std::getline(summary, line);) {
      if (line.starts_with("## ")) heading = line.substr(3);
      if (!line.starts_with("| 1 |")) continue;
      std::istringstream row(line);
      for (std::string cell; std::getline(row, cell, '|');) cells.push_back(cell);
    }
    ASSERT_EQ(cells.size(), 6u) << "no row of finding 1";
    EXPECT_TRUE(cells[2].starts_with(" " + standing + " ")) << cells[2];
    EXPECT_TRUE(cells[4].starts_with(" " + tonight)) << cells[4];
    EXPECT_EQ(heading == "Needs attention", alarm) << heading;
  }

  void expect_in_sarif(const std::string& standing, const std::string& tonight, bool alarm) {
    const Json results = sarif()["results"];
    if (standing == "fixed") {
      EXPECT_TRUE(results.empty()) << "what is missing is closed by the services";
      return;
    }
    ASSERT_EQ(results.size(), 1u);
    const Json& properties = results[0]["properties"];
    EXPECT_EQ(properties["state"], standing);
    EXPECT_EQ(properties["tonight"].get<std::string>().find(tonight), 0u) << properties["tonight"];
    EXPECT_EQ(results[0]["level"] == "error", alarm) << results[0]["level"];
    EXPECT_EQ(results[0]["suppressions"].size(),
              standing == "known" || standing == "quarantined" ? 1u : 0u);
  }

  void expect_in_junit(const std::string& standing, const std::string& tonight, bool alarm) {
    const auto document = junit();
    const auto cases = document.select_nodes("//testsuite[@name='findings']/testcase");
    ASSERT_EQ(cases.size(), 1u);
    const pugi::xml_node finding = cases.first().node();
    const auto failure = finding.child("failure"), skipped = finding.child("skipped");
    EXPECT_EQ(!failure.empty(), alarm);
    EXPECT_EQ(failure.empty() && skipped.empty(), tonight == "passes");
    const std::string said = alarm             ? failure.text().get()
                             : skipped.empty() ? finding.child("system-out").text().get()
                                               : skipped.attribute("message").value();
    EXPECT_NE(said.find(standing), std::string::npos) << said;
    EXPECT_NE(said.find("tonight: " + tonight), std::string::npos) << said;
    EXPECT_EQ(document.select_nodes("//testsuite[@name='targets']/testcase/failure").size(),
              alarm ? 1u : 0u);
  }

  // The night as `redzone report` describes it later.
  Json past(int night) {
    return redzone(folder_,
                   {"report", "--night", std::to_string(night), "--db", "x.db", "--format", "json"})
        .json()["night"];
  }
};

TEST_F(SixNights, TellNewKnownFixedAndRegressed) {
  install(kCleanBuild);
  const Json first = one(0);
  EXPECT_TRUE(first["findings"].empty());
  EXPECT_EQ(first["pass"], 60);

  install(kBuggyBuild);
  const Json gained = one(1);
  expect_one(gained, "new", "found", true);
  EXPECT_TRUE(gained["findings"][0]["before"].is_null());
  EXPECT_GT(gained["findings"][0]["occurrences"], 1);

  const Json kept = one(1);
  expect_one(kept, "new", "still fails", true);
  EXPECT_EQ(kept["findings"][0]["before"], "new");
  EXPECT_EQ(kept["findings"][0]["k"], kept["findings"][0]["n"]);
  // The printed replay line alone reproduces the failure.
  std::istringstream words(kept["findings"][0]["replay"].get<std::string>());
  Arguments line{std::istream_iterator<std::string>(words), {}};
  ASSERT_EQ(line.front(), "redzone");
  line.erase(line.begin());
  EXPECT_EQ(redzone(folder_, line).exit, 1);

  EXPECT_EQ(redzone(folder_, {"mark", "1", "known", "--db", "x.db"}).exit, 2) << "no link";
  const Ran marked = redzone(folder_, {"mark", "1", "known", "--link", kLink, "--db", "x.db"});
  EXPECT_EQ(marked.exit, 0) << marked;
  const Json waived = one(0);
  expect_one(waived, "known", "still fails", false);
  EXPECT_EQ(waived["findings"][0]["ledger"]["link"], kLink);
  // A campaign that finds it reports nothing new, either.
  const Ran run = redzone(folder_, {"run", "gains.doubled", "--plugin", "./gains.so", "--device",
                                    "host", "--db", "x.db", "--plans", "20"});
  EXPECT_EQ(run.exit, 0) << run;
  EXPECT_NE(run.out.find("0 new, 1 known"), std::string::npos) << run;
  EXPECT_NE(run.out.find("confirmed, known"), std::string::npos) << run;
  EXPECT_NE(redzone(folder_, {"show", "1", "--db", "x.db"}).out.find(kLink), std::string::npos);
  EXPECT_NE(redzone(folder_, {"findings", "--db", "x.db"}).out.find("confirmed, known"),
            std::string::npos);

  install(kCleanBuild);
  const Json fixed = one(0);
  expect_one(fixed, "fixed", "passes", false);
  EXPECT_EQ(fixed["findings"][0]["before"], "known");
  EXPECT_EQ(redzone(folder_, {"mark", "1", "known", "--link", kLink, "--db", "x.db"}).exit, 2)
      << "it would hide its return";

  install(kBuggyBuild);
  const Json back = one(1);
  expect_one(back, "regressed", "still fails", true);
  EXPECT_EQ(back["findings"][0]["before"], "fixed");
  ASSERT_EQ(back["trend"].size(), 6u);
  std::vector<int> codes;
  for (const auto& night : back["trend"]) codes.push_back(night["exit_code"]);
  EXPECT_EQ(codes, (std::vector{0, 1, 1, 0, 0, 1}));
  EXPECT_EQ(back["trend"][3]["findings"]["known"], 1) << "the past stays as it was";
  EXPECT_EQ(back["trend"][4]["findings"]["fixed"], 1);

  // Reports each night again after all of them: they are as they were then.
  EXPECT_TRUE(past(1)["findings"].empty());
  for (const Json& then : {gained, kept, waived, fixed}) {
    const int number = then["campaign"];
    const Json now = past(number);
    ASSERT_EQ(now["findings"].size(), 1u) << number;
    for (const char* key :
         {"tonight", "alarm", "before", "k", "n", "occurrences", "outcome_reason"})
      EXPECT_EQ(now["findings"][0][key], then["findings"][0][key]) << number << " " << key;
    EXPECT_EQ(now["findings"][0]["ledger"]["standing"], then["findings"][0]["ledger"]["standing"]);
    EXPECT_EQ(now["not_judged"], then["not_judged"]) << number;
    EXPECT_EQ(now["exit_code"], then["exit_code"]) << number;
  }
}

// A report made later includes the marks set meanwhile and all findings of the night.
TEST_F(SixNights, AReportMadeAgainStillHasWhatTheNightFound) {
  install(kBuggyBuild);
  one(1);
  ASSERT_EQ(redzone(folder_, {"mark", "1", "known", "--link", kLink, "--db", "x.db"}).exit, 0);
  const auto expect_found = [&] {
    const Json night = past(1);
    EXPECT_EQ(night["findings"].at(0)["tonight"], "found");
    EXPECT_EQ(night["findings"].at(0)["ledger"]["standing"], "known");
    EXPECT_TRUE(night["not_judged"].empty()) << night["not_judged"];
    EXPECT_EQ(night["exit_code"], 1);
  };
  expect_found();
  ASSERT_EQ(redzone(folder_, {"run", "gains.doubled", "--plugin", "./gains.so", "--device", "host",
                              "--db", "x.db", "--plans", "20"})
                .exit,
            0);
  expect_found();
}

TEST_F(SixNights, WhatIsQuarantinedIsNotLaunched) {
  install(kBuggyBuild);
  one(1);
  EXPECT_EQ(redzone(folder_, {"mark", "1", "quarantined", "--db", "x.db"}).exit, 2);
  ASSERT_EQ(
      redzone(folder_, {"mark", "1", "quarantined", "--reason", "wedges", "--db", "x.db"}).exit, 0);
  const Json night = one(4);
  EXPECT_EQ(night["calls"], 0);
  EXPECT_EQ(night["findings"][0]["ledger"]["standing"], "quarantined");
  EXPECT_EQ(night["findings"][0]["tonight"], "not run");
  EXPECT_EQ(night["targets"][0]["not_fuzzed"], "finding 1 is quarantined: wedges");
  expect_in_other_formats("quarantined", "not run", false);
  const Arguments there{"--plugin", "./gains.so", "--device", "host", "--db", "x.db"};
  const auto with = [&](Arguments command, const Arguments& more = {}) {
    command.insert(command.end(), there.begin(), there.end());
    command.insert(command.end(), more.begin(), more.end());
    return redzone(folder_, command);
  };
  for (const char* command : {"replay", "reduce"}) {
    const Ran refused = with({command, "1"});
    EXPECT_EQ(refused.exit, 2) << refused;
    EXPECT_NE(refused.err.find("finding 1 is quarantined: wedges"), std::string::npos) << refused;
  }
  // Its target is not launched either, under any name of the plan.
  folder_.write("p.toml",
                "redzone_plan = 1\ntarget = \"gains.doubled\"\n[[step]]\ndo = \"call\"\n"
                "dims = { N = 1 }\n");
  EXPECT_EQ(with({"replay", "p.toml"}).exit, 2);
  EXPECT_EQ(with({"run", "gains.doubled", "--plans", "5"}).exit, 4);
  EXPECT_EQ(with({"replay", "1", "--runs", "1"}, {"--force"}).exit, 1);
  EXPECT_EQ(with({"run", "gains.doubled", "--plans", "20"}, {"--force"}).exit, 0);
  ASSERT_EQ(redzone(folder_, {"mark", "1", "new", "--db", "x.db"}).exit, 0);
  expect_one(one(1), "new", "still fails", true);
}

TEST_F(SixNights, ANightSaysHowManyCallsWereComparedWithTheReference) {
  install(kCleanBuild);
  const Ran ran = redzone(folder_, night({"--plans", "8", "--seed", "1"}));
  ASSERT_EQ(ran.exit, 0) << ran;
  const Json reference = report()["reference"];
  EXPECT_GE(reference["calls"], 8);
  ASSERT_LT(reference["calls"], 1000) << "larger numbers are grouped in texts";
  EXPECT_EQ(reference["compared_calls"], reference["calls"]);
  EXPECT_TRUE(report()["not_judged"].empty()) << report()["not_judged"];
  const std::string calls = reference["calls"].dump(), said = calls + " of " + calls + " calls";
  const auto expect_told = [&] {
    EXPECT_EQ(report()["reference"], reference);
    EXPECT_EQ(report()["targets"][0]["reference"], reference);
    EXPECT_EQ(page()["report"]["night"]["reference"], reference);
    EXPECT_EQ(sarif()["properties"]["comparedCalls"], reference["compared_calls"]);
    EXPECT_EQ(sarif()["properties"]["callsToCompare"], reference["calls"]);
    for (const char* file : {"night.txt", "junit.xml", "summary.md"}) {
      const std::string text = read_text(folder_ / (std::string("out/") + file));
      EXPECT_NE(text.find(said), std::string::npos) << text;
    }
  };
  expect_told();
  // Once more from the store alone.
  for (const auto& format : report::night_formats()) {
    const std::string file = "out/" + std::string(format.file);
    std::filesystem::remove(folder_ / file);
    ASSERT_EQ(redzone(folder_, {"report", "--db", "x.db", "--format", std::string(format.name),
                                "--out", file})
                  .exit,
              0);
  }
  expect_told();
}

TEST_F(SixNights, ACorpusPlanThatFailsIsAFinding) {
  install(kBuggyBuild);
  const std::string folder = "my plans; it's";
  std::filesystem::create_directory(folder_.path() / folder);
  constexpr const char* kPlan =
      "redzone_plan = 1\ntarget = \"gains.doubled\"\n[[step]]\ndo = \"call\"\ndims = { N = 5 }\n";
  folder_.write(folder + "/plain.toml", kPlan);
  folder_.write(folder + "/other.toml",
                "redzone_plan = 1\ntarget = \"twin.last_tile\"\n[[step]]\ndo = \"call\"\n"
                "dims = { N = 5 }\n");
  const auto with_corpus = [&](int exit) {
    const Ran ran = redzone(folder_, night({"--plans", "1", "--seed", "1", "--corpus", folder}));
    EXPECT_EQ(ran.exit, exit) << ran;
    return report();
  };
  const Json night = with_corpus(1);
  ASSERT_EQ(night["corpus"].size(), 2u);
  EXPECT_EQ(night["corpus"][0]["file"], folder + "/other.toml");
  EXPECT_EQ(night["corpus"][0]["replay"], "redzone replay 'my plans; it'\\''s/other.toml'");
  EXPECT_EQ(night["corpus"][0]["tonight"], "passes") << "of a target that is not fuzzed";
  EXPECT_EQ(night["corpus"][1]["tonight"], "still fails");
  EXPECT_EQ(night["corpus"][1]["finding"], 1);
  const std::string line = "redzone replay 'my plans; it'\\''s/plain.toml' --plugin " + plugin();
  EXPECT_EQ(night["corpus"][1]["replay"], line);
  EXPECT_EQ(night["findings"][0]["ledger"]["standing"], "new");
  install(kCleanBuild);
  const Json passed = with_corpus(0)["corpus"][1];
  EXPECT_EQ(passed["tonight"], "passes");
  EXPECT_EQ(passed["replay"], line) << "of a plan that has shown nothing, too";
}

TEST_F(SixNights, ShardsShareTheWorkAndTheirStoresBecomeOne) {
  install(kBuggyBuild);
  ASSERT_EQ(redzone(folder_, night({"--plans", "60", "--seed", "1"})).exit, 1);
  const auto shard = [&](const char* text, const char* db) {
    std::filesystem::copy_file(folder_ / "x.db", folder_ / db);
    const Ran ran =
        redzone(folder_, {"nightly", "gains.doubled", "--plugin", "./gains.so", "--device", "host",
                          "--db", db, "--seed", "9", "--plans", "5", "--shard", text, "--json"});
    EXPECT_TRUE(ran.exit == 0 || ran.exit == 1) << ran;
    return ran.json()["night"];
  };
  const Json a = shard("1/2", "a.db"), b = shard("2/2", "b.db");
  EXPECT_NE(a["seed"], b["seed"]);
  int replayed = 0;
  for (const auto& night : {a, b}) replayed += night["findings"][0]["n"] > 0;
  EXPECT_EQ(replayed, 1);
  const Ran merged = redzone(folder_, {"merge", "a.db", "b.db", "--into", "c.db"});
  EXPECT_EQ(merged.exit, 0) << merged;
  const Ran again = redzone(folder_, {"merge", "b.db", "a.db", "--into", "c.db"});
  EXPECT_NE(again.out.find("a.db: 0 new campaigns, 0 new findings, 0 with a better repro, 0 marks "
                           "of the ledger"),
            std::string::npos)
      << again;
  const Json findings = redzone(folder_, {"findings", "--db", "c.db", "--json"}).json()["findings"];
  ASSERT_EQ(findings.size(), 1u);
  // The two shards form one night of the merged store.
  const Json whole =
      redzone(folder_, {"report", "--db", "c.db", "--format", "json"}).json()["night"];
  EXPECT_EQ(whole["parts"].size(), 2u);
  EXPECT_EQ(whole["trend"].size(), 2u);
  EXPECT_EQ(whole["plans"], a["plans"].get<int>() + b["plans"].get<int>());
  for (const char* key : {"compared_calls", "calls"}) {
    const auto sum = a["reference"][key].get<int>() + b["reference"][key].get<int>();
    EXPECT_GT(sum, 0) << key;
    EXPECT_EQ(whole["reference"][key], sum) << key;
    EXPECT_EQ(whole["targets"][0]["reference"][key], sum) << key;
  }
  EXPECT_EQ(whole["findings"][0]["tonight"], "still fails");
  const Ran sound = redzone(folder_, {"db", "check", "--db", "c.db"});
  EXPECT_EQ(sound.exit, 0) << sound;
  const Json stats = redzone(folder_, {"db", "stats", "--db", "c.db", "--json"}).json();
  EXPECT_EQ(stats["rows"]["nights"], 3);
  EXPECT_EQ(stats["findings"]["by_target"]["gains.doubled"], 1);
}

}  // namespace
}  // namespace redzone::e2e
