// Errors in the surroundings of a night: its flags, its store, its corpus, its machine.
#include <SQLiteCpp/SQLiteCpp.h>
#include <signal.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "e2e/nights.h"
#include "report/night_formats.h"

namespace redzone::e2e {
namespace {

class NightInput : public NightsTest {
 protected:
  void SetUp() override { install(kBuggyBuild); }

  void expect(const Arguments& arguments, int exit, const std::string& says) {
    const Ran ran = redzone(folder_, arguments);
    EXPECT_EQ(ran.exit, exit) << ran;
    EXPECT_NE(ran.err.find(says), std::string::npos) << says << "\n" << ran;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran;
  }
  bool exists(const char* name) const { return std::filesystem::exists(folder_ / name); }
};

TEST_F(NightInput, WrongFlagsMakeNoStore) {
  for (const char* shard : {"0/3", "4/3", "x/y", "1", "1/0", "-1/2", "1/9999"})
    expect(night({"--shard", shard}), 2, "is not a shard");
  expect(night({"--time", "0"}), 2, "--time");
  expect(night({"--plans", "0"}), 2, "--plans");
  expect(night({"--corpus", "nowhere"}), 2, "nowhere is not a folder");
  std::filesystem::create_directory(folder_.path() / "empty");
  expect(night({"--corpus", "empty"}), 2, "contains no plan");
  std::filesystem::create_directory(folder_.path() / "plans");
  folder_.write("plans/a.toml",
                "redzone_plan = 1\ntarget = \"not.here\"\n[[step]]\ndo = \"call\"\n");
  expect(night({"--corpus", "plans"}), 2, "--corpus: plans/a.toml: unknown target 'not.here'");
  expect({"nightly", "gains.dubbled", "--plugin", "./gains.so", "--device", "host"}, 2,
         "did you mean");
  folder_.write("file", "");
  expect({"nightly", "gains.doubled", "--plugin", "./gains.so", "--device", "host", "--report",
          "file"},
         2, "--report: file");
  // No file can be created there, not even by root.
  expect({"nightly", "gains.doubled", "--plugin", "./gains.so", "--device", "host", "--report",
          "/proc/self"},
         2, "--report: /proc/self: cannot create a file in this folder");
  EXPECT_FALSE(exists("x.db"));
  EXPECT_FALSE(exists("redzone.db"));
}

TEST_F(NightInput, ACorruptStoreAndAFileThatIsNone) {
  ASSERT_EQ(redzone(folder_, night({"--plans", "30", "--seed", "1"})).exit, 1);
  folder_.write("text.db", std::string(8192, 'x'));
  {
    std::fstream file(folder_ / "x.db", std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(4096);
    file << std::string(8192, '\xff');
  }
  expect(night(), 5, "x.db is corrupt");
  const Ran check = redzone(folder_, {"db", "check", "--db", "x.db"});
  EXPECT_EQ(check.exit, 5) << check;
  EXPECT_EQ(check.out.rfind("wrong: x.db is corrupt", 0), 0u) << check;
  expect({"db", "stats", "--db", "text.db"}, 2, "not a Redzone store");
  expect({"merge", "x.db", "--into", "c.db"}, 5, "x.db is corrupt");
  expect({"merge", "text.db", "--into", "c.db"}, 2, "not a Redzone store");
  EXPECT_FALSE(exists("c.db"));
}

TEST_F(NightInput, TheLedgerTakesOnlyWhatMakesSense) {
  ASSERT_EQ(redzone(folder_, night({"--plans", "30", "--seed", "1"})).exit, 1);
  const auto mark = [](const Arguments& more) {
    Arguments all{"mark", "--db", "x.db"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  expect(mark({"99", "known", "--link", "https://a/1"}), 2, "no finding 99");
  expect(mark({"x", "known", "--link", "https://a/1"}), 2, "is not a finding number");
  expect(mark({"1", "fixed"}), 2, "unknown mark 'fixed'");
  expect(mark({"1", "known"}), 2, "a waiver needs a link");
  expect(mark({"1", "known", "--link", "javascript:alert(1)"}), 2, "is not a link");
  expect(mark({"1", "quarantined"}), 2, "--link URL or --reason TEXT");
  expect({"mark", "1", "known", "--link", "https://a/1", "--db", "none.db"}, 2, "does not exist");
  expect({"merge", "x.db", "--into", "x.db"}, 2, "into itself");
  expect({"merge", "none.db", "--into", "x.db"}, 2, "does not exist");
  expect({"db", "prune", "--db", "x.db"}, 2, "--keep-days is missing");
  expect({"db", "prune", "--db", "none.db", "--keep-days", "1"}, 2, "does not exist");
  expect({"db", "shrink", "--db", "x.db"}, 2, "unknown action 'shrink'");
  EXPECT_FALSE(exists("none.db"));
  const Ran pruned = redzone(folder_, {"db", "prune", "--keep-days", "0", "--db", "x.db"});
  EXPECT_EQ(pruned.exit, 0) << pruned;
  EXPECT_EQ(redzone(folder_, {"show", "1", "--db", "x.db"}).exit, 0) << "a finding stays";
}

TEST_F(NightInput, ABrokenPlanCostsItsOwnReplayAndIsToldOf) {
  install(kCleanBuild);
  std::filesystem::create_directories(folder_.path() / "corpus/below");
  folder_.write("corpus/broken.toml", "redzone_plan = 1\ntarget = ");
  folder_.write("corpus/version.toml", "redzone_plan = 99\n");
  folder_.write("corpus/note.txt", "no plan");
  ASSERT_EQ(::mkfifo((folder_ / "corpus/pipe.toml").c_str(), 0644), 0);
  folder_.write("corpus/below/good.toml",
                "redzone_plan = 1\ntarget = \"gains.doubled\"\n[[step]]\ndo = \"call\"\n"
                "dims = { N = 5 }\n");
  const Ran ran = redzone(folder_, night({"--plans", "3", "--seed", "1", "--corpus", "corpus"}));
  EXPECT_EQ(ran.exit, 2) << ran;
  const Json corpus = report()["corpus"];
  ASSERT_EQ(corpus.size(), 4u);
  EXPECT_EQ(corpus[0]["tonight"], "passes");
  EXPECT_EQ(corpus[1]["tonight"], "unclear");
  EXPECT_NE(corpus[1]["reason"].get<std::string>().find("broken.toml"), std::string::npos);
  EXPECT_NE(corpus[2]["reason"].get<std::string>().find("is not a file"), std::string::npos);
  EXPECT_EQ(report()["not_judged"].size(), 3u);
  EXPECT_EQ(report()["plans"], 3);
}

// A plan that cannot be read never passes, whatever the other results of the night, and every
// report names it.
TEST_F(NightInput, ABrokenPlanAloneIsAUsageErrorAndBesideANewFindingTheFindingCounts) {
  std::filesystem::create_directory(folder_.path() / "corpus");
  folder_.write("corpus/broken.toml", "redzone_plan = 1\ntarget = ");
  const Arguments wanted = night({"--plans", "30", "--seed", "1", "--corpus", "corpus"});
  install(kCleanBuild);
  EXPECT_EQ(redzone(folder_, wanted).exit, 2);
  install(kBuggyBuild);
  EXPECT_EQ(redzone(folder_, wanted).exit, 1);
  for (const auto& format : report::night_formats()) {
    const std::string text = read_text(folder_ / (std::string("out/") + std::string(format.file)));
    EXPECT_NE(text.find("broken.toml:2:10: not a plan"), std::string::npos) << format.file;
  }
}

TEST_F(NightInput, PuzzlesThatAreNamedAreAllThatIsFuzzed) {
  const Ran ran = redzone(folder_, {"nightly", "puzzle.last_tile", "--puzzles", "--device", "host",
                                    "--db", "x.db", "--plans", "1", "--seed", "1", "--json"});
  const Json targets = ran.json()["night"]["targets"];
  ASSERT_EQ(targets.size(), 1u) << ran;
  EXPECT_EQ(targets[0]["name"], "puzzle.last_tile");
}

TEST_F(NightInput, ANightWithoutTimeSaysWhatItDidNotJudge) {
  const Ran ran = redzone(folder_, night({"--time", "1ms", "--seed", "1"}));
  EXPECT_EQ(ran.exit, 4) << ran;
  const Json gaps = report()["not_judged"];
  ASSERT_EQ(gaps.size(), 1u) << gaps;
  EXPECT_EQ(gaps[0]["what"], "target gains.doubled");
  EXPECT_EQ(gaps[0]["why"], "no time was left to fuzz it");
  EXPECT_TRUE(
      ran.out.ends_with("\nnothing could be judged, or a requested target or plan was not: this "
                        "night is not a pass\n"))
      << ran;
}

TEST_F(NightInput, TwoJobsOnOneStore) {
  Process first(folder_, night({"--time", "1h"}));
  while (!exists("x.db-lock") || std::filesystem::file_size(folder_ / "x.db-lock") == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  expect(night({"--plans", "1"}), 3, "another job is using it (process ");
  expect({"db", "prune", "--keep-days", "1", "--db", "x.db"}, 3, "another job is using it");
  std::filesystem::create_symlink("x.db", folder_ / "link.db");
  expect({"nightly", "gains.doubled", "--plugin", "./gains.so", "--device", "host", "--db",
          "link.db", "--plans", "1"},
         3, "another job is using it (process ");
  // Reading is allowed.
  EXPECT_EQ(redzone(folder_, {"db", "check", "--db", "x.db"}).exit, 0);
  first.signal(SIGKILL);
  first.wait();
  const int again = redzone(folder_, night({"--plans", "30"})).exit;
  EXPECT_EQ(again, 1) << "the lock went with the process";
}

TEST_F(NightInput, OneUnsoundStoreKeepsAllFromBeingMerged) {
  for (const char* db : {"a.db", "b.db"})
    ASSERT_EQ(redzone(folder_, {"nightly", "gains.doubled", "--plugin", "./gains.so", "--device",
                                "host", "--db", db, "--plans", "30", "--seed", "1"})
                  .exit,
              1);
  SQLite::Database(folder_ / "b.db", SQLite::OPEN_READWRITE)
      .exec("UPDATE plans SET text = 'no plan'");
  expect({"merge", "a.db", "b.db", "--into", "c.db"}, 5, "b.db: ");
  EXPECT_FALSE(exists("c.db"));
  expect({"merge", "a.db", "--into", "b.db"}, 5, "b.db: ");
}

// A user sees that the machine hangs and marks the finding while the night runs.
TEST_F(NightInput, WhatIsQuarantinedMeanwhileIsLaunchedNoMore) {
  Process process(folder_, night({"--time", "1h", "--seed", "1"}));
  const auto confirmed = [&] {
    const Json json = redzone(folder_, {"findings", "--db", "x.db", "--json"}).json();
    return json.is_object() && !json["findings"].empty() &&
           json["findings"][0]["state"] == "confirmed";
  };
  while (!confirmed()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ASSERT_EQ(
      redzone(folder_, {"mark", "1", "quarantined", "--reason", "wedges", "--db", "x.db"}).exit, 0);
  const Ran ran = process.wait();
  EXPECT_EQ(ran.exit, 0) << "its only target may not be launched: it ends. " << ran;
  const Json target = report()["targets"][0];
  EXPECT_EQ(target["not_fuzzed"], "finding 1 is quarantined: wedges");
  EXPECT_GT(target["plans"], 0) << "those before";
  EXPECT_NE(ran.out.find("finding 1 is quarantined: wedges"), std::string::npos) << ran;
}

// As when a GPU falls off the bus: workers no longer start.
TEST_F(NightInput, AMachineThatLosesItsDevice) {
  Process process(folder_, night({"--time", "1h", "--seed", "1"}));
  const auto found = [&] {
    const Json json = redzone(folder_, {"findings", "--db", "x.db", "--json"}).json();
    return json.is_object() && !json["findings"].empty() &&
           json["findings"][0]["state"] == "confirmed";
  };
  while (!found()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::filesystem::remove(folder_ / "gains.so");
  ::kill(zygote(folder_), SIGKILL);
  const Ran ran = process.wait();
  EXPECT_EQ(ran.exit, 1) << "what it found comes before what it could not do. " << ran;
  const Json night = report();
  EXPECT_EQ(night["exit_code"], 1);
  EXPECT_NE(night["problem"].get<std::string>().find("no longer answers"), std::string::npos)
      << night["problem"];
  EXPECT_EQ(night["findings"].size(), 1u);
  EXPECT_TRUE(found());
}

}  // namespace
}  // namespace redzone::e2e
