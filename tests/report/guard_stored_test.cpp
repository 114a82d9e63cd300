// What is printed of the store, of several runs, and of bisections of programs.
#include "report/guard_stored.h"

#include <gtest/gtest.h>

#include "guard/sample.h"
#include "report/guard.h"
#include "report/json.h"
#include "report/program_bisect.h"
#include "report/text.h"

namespace redzone::report {
namespace {

using guard::testing::run_with;
using guard::testing::sample_before;

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

GuardStored sample_stored() {
  GuardStored out;
  out.db = "my store.db";
  out.known = {{"a", 7, true, {}, ""},
               {"b", 3, false, {Standing::known, "https://example.org/1", "benign", "x"}, ""},
               {"c", 4, false, {Standing::regressed, "", "", "x"}, ""},
               {"d", 0, false, {}, "an argument is no text"},
               {"e", 0, false, {}, ""}};
  return out;
}

TEST(GuardStoredText, NamesTheMarkOfWhatIsSuppressed) {
  EXPECT_EQ(guard_stored_text(sample_stored()),
            "finding 1 is stored as 7, new: redzone replay 7 --db 'my store.db'\n"
            "finding 2 is stored as 3, suppressed: known, https://example.org/1 (benign)\n"
            "finding 3 is stored as 4, regressed: redzone replay 4 --db 'my store.db'\n"
            "finding 4 is not stored: an argument is no text\n");
  EXPECT_EQ(suppressed_text(sample_stored()), ", 1 suppressed by marks");
  EXPECT_EQ(suppressed_text({}), "");
  EXPECT_EQ(guard_stored_text({}), "");
}

TEST(GuardStoredText, MarksAreMadePrintable) {
  GuardStored stored = sample_stored();
  stored.known[1].ledger.note = "\x1b[2J";
  stored.problem = "a\nb";
  EXPECT_TRUE(holds(guard_stored_text(stored), "\\x1b[2J"));
  EXPECT_TRUE(holds(guard_stored_text(stored), "note: the findings are not stored: a\\nb\n"));
}

TEST(GuardStoredText, SeveralRunsAreATable) {
  const std::vector<guard::ProgramRun> runs{run_with({sample_before()}), run_with({}, 3)};
  GuardStored stored;
  stored.runs = runs;
  const std::string text = guard_stored_text(stored);
  EXPECT_TRUE(holds(text, "guard_after, poison 0xff, retire sample")) << text;
  EXPECT_TRUE(holds(text, "finding 1 was seen in 1 of 2 runs\n")) << text;
  stored.runs = std::span(runs).first(1);
  EXPECT_EQ(guard_stored_text(stored), "");
}

TEST(GuardStoredJson, HasEachFindingAndRun) {
  const std::vector<guard::ProgramRun> runs{run_with({sample_before()})};
  GuardStored stored = sample_stored();
  stored.runs = runs;
  const Json json = Json::parse(guard_json(runs[0], 1, stored));
  ASSERT_EQ(json["stored"].size(), 5u);
  EXPECT_EQ(json["stored"][1]["suppressed"], true);
  EXPECT_EQ(json["stored"][3]["id"], nullptr);
  EXPECT_EQ(json["runs"][0]["findings"].size(), 1u);
}

TEST(GuardReport, OfAttachedProcessesKnowsNoExitCode) {
  guard::ProgramRun run = run_with({});
  run.started = {};
  EXPECT_TRUE(
      holds(guard_text(run, 0), "redzone guard: no finding; 1 process attached; exit code 0"));
  EXPECT_EQ(Json::parse(guard_json(run, 0))["exit_code"], nullptr);
}

ProgramBisection sample_bisection() {
  ProgramBisection out;
  const bisect::Probe fails{bisect::Answer::fails, {.same = 6}};
  const bisect::Probe passes{bisect::Answer::passes, {.passed = 4}};
  out.settings.base = fails;
  out.settings.rows = {{"placement", "guard_after", {{"guard_before", passes}}},
                       {"poison", "0xff", {{"0x00", fails}, {"none", fails}}}};
  out.settings.runs = 18;
  out.settings.complete = true;
  return out;
}

TEST(ProgramBisectionText, SaysWhatItNeeds) {
  Finding finding;
  finding.id = 5;
  finding.signature.target = "program.train";
  ProgramBisection result = sample_bisection();
  std::string text = program_bisection_text(finding, result);
  for (const char* part : {"as it was run: fails 6/6\n", "guard_before: passes 0/4",
                           "it needs placement = guard_after\n", "18 runs\n"})
    EXPECT_TRUE(holds(text, part)) << part << text;
  result.settings.rows.erase(result.settings.rows.begin());
  EXPECT_TRUE(holds(program_bisection_text(finding, result), "it needs none of these settings\n"));
  result.settings.together = bisect::Probe{bisect::Answer::passes, {.passed = 4}};
  EXPECT_TRUE(holds(program_bisection_text(finding, result), "it needs one of them\n"));
  result.blocks = {{8, 9, false}};
  EXPECT_TRUE(holds(program_bisection_text(finding, result),
                    "guarding blocks 8 to 9 is enough for it; which of them is not decided"));
  result.blocks = {{9, 9, true}};
  EXPECT_TRUE(holds(program_bisection_text(finding, result), "guarding block 9 alone is enough"));
  result.settings.complete = false;
  EXPECT_TRUE(holds(program_bisection_text(finding, result), "ended by the time limit"));
  result.settings.base.answer = bisect::Answer::passes;
  EXPECT_TRUE(holds(program_bisection_text(finding, result), "not decided: ended by the time"));
  result.settings.complete = true;
  EXPECT_TRUE(holds(program_bisection_text(finding, result), "nothing to bisect"));
}

TEST(ProgramBisectionJson, HasTheAnswers) {
  const Json json = Json::parse(program_bisection_json({}, sample_bisection()));
  EXPECT_EQ(json["base"]["failed"], 6);
  EXPECT_EQ(json["settings"][0]["relevance"], "necessary");
  EXPECT_EQ(json["settings"][1]["tried"][1]["value"], "none");
  EXPECT_EQ(json["together"], nullptr);
  EXPECT_EQ(json["blocks"], nullptr);
  EXPECT_EQ(json["blocks_decided"], false);
}

TEST(ProgramFindingText, ShowsTheProgramInThePlaceOfAPlan) {
  Finding finding;
  finding.signature.target = "program.train";
  finding.plan = finding.original = plan_without_calls("program.train");
  finding.reliability = {1, 1};
  finding.program = ProgramOrigin{};
  finding.program->argv = {"./train", "two words"};
  finding.program->folder = "/home/x";
  finding.program->environment = {{"TZ", "a b"}};
  finding.program->allocated = {"make_buffer\x1b"};
  const std::string text = finding_text(finding);
  for (const char* part : {"seen in 1 of 1 run\n", "command    ./train 'two words'\n",
                           "folder     /home/x\n", "variable   TZ='a b'\n", "make_buffer\\x1b\n"})
    EXPECT_TRUE(holds(text, part)) << part << text;
  EXPECT_FALSE(holds(text, "redzone_plan")) << text;
  EXPECT_FALSE(holds(text, "interval")) << text;
}

}  // namespace
}  // namespace redzone::report
