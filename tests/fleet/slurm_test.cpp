// What is asked of Slurm, and what is left when it refuses.
#include "fleet/slurm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "store/sample.h"

namespace redzone::fleet {
namespace {

using namespace store::testing;
using Words = std::vector<std::string>;

bool has(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

class SlurmTest : public ::testing::Test {
 protected:
  SlurmTest() {
    write_bytes(dir_ / "job.sbatch", "#!/bin/bash\n");
    fleet_.uid = "f1";
    fleet_.shards = 8;
    fleet_.models = {{.name = "", .shards = 8}};
    fleet_.seconds = 3600;
  }

  Result<Site> site(const std::string& text) {
    write_bytes(dir_ / "fleet.toml", text);
    return read_site(dir_ / "fleet.toml");
  }
  Commands commands() {
    return commands_of(fleet_, {"/shared/run"}, must(site("script = 'job.sbatch'")),
                       "/opt/redzone");
  }
  // Slurm accepts `accepted_` jobs and refuses the next.
  RunProgram slurm() {
    return [this](const Words& words) -> Result<Output> {
      ran_.push_back(words);
      if (words[0] != "sbatch") return Output{0, ""};
      if (accepted_-- == 0)
        return Output{1, "sbatch: error: no such thing\nsbatch: error: refused\n"};
      return Output{0, std::to_string(++job_) + ";cluster\n"};
    };
  }

  TempDir dir_;
  Fleet fleet_;
  std::vector<Words> ran_;
  int accepted_ = 10, job_ = 40;
};

TEST_F(SlurmTest, TheShardsAreAnArrayThatIsRequeuedAndWarned) {
  const auto words = commands().shards.at(0).words();
  for (const char* word :
       {"--array=1-8", "--requeue", "--signal=B:TERM@120", "--gres=gpu:1", "--time=80"})
    EXPECT_TRUE(has(words, word)) << word;
  EXPECT_EQ((Words{words.end() - 5, words.end()}),
            (Words{(dir_ / "job.sbatch").string(), "shard", "/opt/redzone", "/shared/run", "f1"}));
  EXPECT_FALSE(has(commands().hub.words(), "--gres=gpu:1"));
}

TEST_F(SlurmTest, TheHubAsksForNoMoreTimeThanAShardAndTheReportForWhatItMerges) {
  const auto one = commands();
  EXPECT_TRUE(has(one.hub.words(), "--time=80")) << "it queues itself again";
  EXPECT_TRUE(has(one.report.words(), "--time=20"));
  EXPECT_TRUE(has(one.report.words(), "--signal=B:TERM@120"));
  fleet_.shards = 4000;
  fleet_.models = {{.name = "", .shards = 4000}};
  EXPECT_TRUE(has(commands().report.words(), "--time=220"));
  fleet_.seconds = 0;  // a number of plans: nobody knows
  for (const auto& word : commands().report.words()) EXPECT_FALSE(word.starts_with("--time"));
  const auto site =
      must(this->site("script = 'job.sbatch'\nhub = ['--partition=cpu']\nreport = ['--time=60']"));
  const auto both = commands_of(fleet_, {"/shared/run"}, site, "/opt/redzone");
  EXPECT_TRUE(has(both.report.words(), "--partition=cpu"));
  EXPECT_TRUE(has(both.report.words(), "--time=60"));
  EXPECT_FALSE(has(both.hub.words(), "--time=60"));
}

TEST_F(SlurmTest, OptionsOfTheSiteComeLastSoThatTheyCount) {
  const auto site =
      must(this->site("script = 'job.sbatch'\nsbatch = ['--time=5']\nshards = "
                      "['--signal=B:TERM@600', '--gpus=1']"));
  const auto words =
      commands_of(fleet_, {"/shared/run"}, site, "/opt/redzone").shards.at(0).words();
  const auto at = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word);
  };
  EXPECT_LT(at("--time=80"), at("--time=5"));
  EXPECT_LT(at("--signal=B:TERM@120"), at("--signal=B:TERM@600"));
  EXPECT_TRUE(has(words, "--gpus=1"));
  EXPECT_FALSE(has(words, "--gres=gpu:1"));
}

TEST_F(SlurmTest, TheExaminationFollowsTheShardsAndTheReportFollowsAll) {
  const auto jobs = must(submit(commands(), slurm()));
  EXPECT_EQ(jobs, (Jobs{.shards = {"41"}, .examinations = {"43"}, .hub = "42", .report = "44"}));
  EXPECT_TRUE(has(ran_[2], "--dependency=afterany:41"));
  EXPECT_TRUE(has(ran_[3], "--dependency=afterany:41:43"));
}

TEST_F(SlurmTest, EachModelHasItsShardsAndItsExamination) {
  const auto two = must(
      site("script = 'job.sbatch'\nexamine = ['--partition=stable']\n[[model]]\nname = "
           "'h100'\noptions = "
           "['--constraint=h100']\n[[model]]\nname = 'a100'\noptions = ['--constraint=a100']"));
  fleet_.shards = 5;
  fleet_.models = must(models_of(two, 5));
  EXPECT_EQ(fleet_.models, (std::vector<Model>{{"h100", 3}, {"a100", 2}}));
  EXPECT_EQ(model_of(fleet_, 3), 1);
  EXPECT_EQ(model_of(fleet_, 4), 2);
  const auto commands = commands_of(fleet_, {"/shared/run"}, two, "/opt/redzone");
  ASSERT_EQ(commands.shards.size(), 2U);
  const auto second = commands.shards[1].words(), examined = commands.examinations[1].words({"41"});
  for (const char* word : {"--array=4-5", "--constraint=a100", "--gres=gpu:1"})
    EXPECT_TRUE(has(second, word)) << word;
  for (const char* word :
       {"--partition=stable", "--constraint=a100", "--gres=gpu:1", "--dependency=afterany:41"})
    EXPECT_TRUE(has(examined, word)) << word;
  EXPECT_FALSE(has(second, "--partition=stable"));
  EXPECT_EQ((Words{examined.end() - 2, examined.end()}), (Words{"f1", "2"}));
  const auto few = models_of(two, 1);
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error().message, "1 shards are too few for the 2 models of the site's file");
}

TEST_F(SlurmTest, WhatWasSubmittedBeforeARefusalIsCancelled) {
  accepted_ = 2;
  const auto jobs = submit(commands(), slurm());
  ASSERT_FALSE(jobs);
  EXPECT_EQ(jobs.error().message, "sbatch: error: no such thing; sbatch: error: refused");
  ASSERT_EQ(ran_.size(), 5U);
  EXPECT_EQ(ran_[3], (Words{"scancel", "41"}));
  EXPECT_EQ(ran_[4], (Words{"scancel", "42"}));
}

TEST_F(SlurmTest, StoppingCancelsWhatWaitsAndSignalsWhatRuns) {
  std::map<std::string, std::string> queue{{"--states=PENDING", "41_[3-8]\n"},
                                           {"--states=RUNNING", "41_1\n41_2\n"}};
  bool refuses = false;
  const RunProgram run = [&](const Words& words) -> Result<Output> {
    if (words[0] == "squeue") return Output{0, words[4] == "--jobs=41" ? queue[words[3]] : ""};
    ran_.push_back(words);
    if (!refuses) return Output{0, ""};
    return Output{1, "scancel: error: Invalid job id specified\n"};
  };
  const Jobs jobs{.shards = {"41"}, .examinations = {"43"}, .hub = "42", .report = "44"};
  EXPECT_EQ(must(cancel(jobs, run)), 2);
  EXPECT_EQ(ran_, (std::vector<Words>{{"scancel", "--state=PENDING", "41"},
                                      {"scancel", "--signal=TERM", "--batch", "41"}}));
  refuses = true;
  const auto refused = cancel(jobs, run);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "scancel: error: Invalid job id specified");
  queue.clear();  // all have ended
  EXPECT_EQ(must(cancel(jobs, run)), 0);
}

TEST_F(SlurmTest, StoppingTellsWhatSlurmDoesNotKnowFromASlurmThatIsAway) {
  std::string says = "slurm_load_jobs error: Invalid job id specified\n";
  const RunProgram run = [&](const Words&) -> Result<Output> { return Output{1, says}; };
  const Jobs jobs{.shards = {"41"}, .examinations = {"43"}, .hub = "42", .report = "44"};
  EXPECT_EQ(must(cancel(jobs, run)), 0) << "they ended long ago";
  says = "slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n";
  const auto away = cancel(jobs, run);
  ASSERT_FALSE(away);
  EXPECT_EQ(away.error().message,
            "slurm_load_jobs error: Unable to contact slurm controller (connect failure)");
}

TEST_F(SlurmTest, WhatIsNoJobNumberIsAnError) {
  const auto odd = submit(commands(), [](const Words&) { return Output{0, "queued\n"}; });
  ASSERT_FALSE(odd);
  EXPECT_EQ(odd.error().message, "sbatch: printed no job number but 'queued'");
}

TEST_F(SlurmTest, AMistakeInTheSitesFileHasItsPlace) {
  for (const auto& [text, message] : std::vector<std::pair<const char*, const char*>>{
           {"sbach = []", "sbach"},
           {"lease_seconds = 0", "is less than a second"},
           {"answer_seconds = 0", "is less than a second"},
           {"sbatch = '--time=5'", "sbatch"},
           {"shards_reduce = 'no'", "true or false"},
           {"[[model]]\nname = 'h100'", "model[h100].options: missing"},
           {"script = 'none.sbatch'", "none.sbatch: no such file"}}) {
    const auto wrong = site(text);
    ASSERT_FALSE(wrong) << text;
    EXPECT_EQ(wrong.error().kind, ErrorKind::usage);
    EXPECT_NE(wrong.error().message.find(message), std::string::npos) << wrong.error().message;
  }
}

TEST(FleetProcess, HasTheOutputAndTheStatusOfAProgram) {
  const auto output = must(run_program({"sh", "-c", "echo out; echo err >&2; exit 7"}));
  EXPECT_EQ(output.status, 7);
  EXPECT_EQ(output.text, "out\nerr\n");
  EXPECT_EQ(must(run_program({"sh", "-c", "kill -9 $$"})).status, 128 + 9);
  EXPECT_FALSE(run_program({"/no/such/program"}));
}

}  // namespace
}  // namespace redzone::fleet
