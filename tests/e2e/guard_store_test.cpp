// Findings of programs under the guard: stored, shown, marked, replayed, bisected, exported,
// attached.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "e2e/cli.h"
#include "e2e/guarded_program.h"

namespace redzone::e2e {
namespace {

class GuardStore : public testing::Test {
 protected:
  Ran run(const Arguments& arguments) const { return redzone(folder_, arguments); }
  Ran guard(const Arguments& options, const Arguments& command) const {
    Arguments all{"guard"};
    all.insert(all.end(), options.begin(), options.end());
    all.emplace_back("--");
    all.insert(all.end(), command.begin(), command.end());
    return run(all);
  }
  // A program that overruns a block if the file `mistake` is in its folder.
  Arguments sometimes() const {
    const std::string program = kQuotedProgram;
    return {
        "sh", "-c",
        "if test -e mistake; then exec " + program + " slack; else exec " + program + " use; fi"};
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  TempFolder folder_;
};

TEST_F(GuardStore, AFindingIsStoredWithoutSecrets) {
  ::setenv("MY_API_TOKEN", "do-not-store-me", 1);
  ::setenv("OMP_NUM_THREADS", "3", 1);
  const Ran ran = guard({"--cpu"}, {HOST_PROGRAM, "slack", "it's \"it\""});
  ::unsetenv("MY_API_TOKEN");
  ::unsetenv("OMP_NUM_THREADS");
  EXPECT_EQ(ran.exit, 1) << ran;
  EXPECT_TRUE(has(ran.err, "finding 1 is stored as 1, new: redzone replay 1\n")) << ran;
  EXPECT_TRUE(has(ran.err, "; exit code 1\n")) << ran;
  std::string stored;
  for (const auto& file : std::filesystem::directory_iterator(folder_.path()))
    stored += read_text(file.path());
  EXPECT_FALSE(has(stored, "do-not-store-me"));
  EXPECT_FALSE(has(stored, "MY_API_TOKEN"));
  const Json json = run({"show", "1", "--json"}).json();
  EXPECT_EQ(json["program"]["argv"], Json({HOST_PROGRAM, "slack", "it's \"it\""}));
  EXPECT_EQ(json["program"]["folder"], folder_.path().string());
  EXPECT_TRUE(
      has(json["program"]["environment"].dump(), R"({"name":"OMP_NUM_THREADS","value":"3"})"));
  EXPECT_EQ(json["plan"], nullptr);
  EXPECT_EQ(json["state"], "confirmed");
  EXPECT_EQ(json["signature"]["target"], "program.host_program");
  const Ran shown = run({"show", "1"});
  EXPECT_TRUE(has(shown.out, "it'\\''s")) << shown;
  EXPECT_FALSE(has(shown.out, "redzone_plan")) << shown;
  EXPECT_TRUE(has(run({"findings"}).out, "canary: write after a block")) << "a list";
  EXPECT_EQ(run({"db", "check"}).exit, 0);
}

TEST_F(GuardStore, AVariableThatIsAskedForIsStored) {
  ::setenv("MY_SETTING", "17", 1);
  guard({"--cpu", "--env", "MY_SETTING"}, {HOST_PROGRAM, "slack"});
  ::unsetenv("MY_SETTING");
  EXPECT_TRUE(has(run({"show", "1", "--json"}).out, "MY_SETTING"));
}

TEST_F(GuardStore, WithoutAFindingNothingIsCreated) {
  EXPECT_EQ(guard({"--cpu"}, {HOST_PROGRAM, "use"}).exit, 0);
  EXPECT_EQ(guard({"--cpu", "--no-store"}, {HOST_PROGRAM, "slack"}).exit, 1);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "redzone.db"));
}

TEST_F(GuardStore, AStoreThatCannotBeUsedLosesNoReport) {
  folder_.write("other.db", "no store");
  const Ran ran = guard({"--cpu", "--db", "other.db"}, {HOST_PROGRAM, "slack"});
  EXPECT_EQ(ran.exit, 1) << ran;
  EXPECT_TRUE(has(ran.err, "finding 1: canary")) << ran;
  EXPECT_TRUE(has(ran.err, "note: the findings are not stored: ")) << ran;
  EXPECT_EQ(read_text(folder_ / "other.db"), "no store");
}

TEST_F(GuardStore, AFullDiskLosesNoReport) {
  const Ran ran = guard({"--cpu", "--no-store", "--output", "/dev/full"}, {HOST_PROGRAM, "slack"});
  EXPECT_EQ(ran.exit, 1) << ran;
  EXPECT_TRUE(has(ran.err, "finding 1: canary")) << ran;
  EXPECT_TRUE(has(ran.err,
                  "redzone guard: --output: /dev/full: cannot be written: No space left on device"))
      << ran;
}

TEST_F(GuardStore, ArgumentsThatAreNoTextAreReportedAlone) {
  const Ran ran = guard({"--cpu"}, {HOST_PROGRAM, "slack", "\xff\xfe"});
  EXPECT_EQ(ran.exit, 1) << ran;
  EXPECT_TRUE(has(ran.err, "finding 1 is not stored: an argument of the program is not UTF-8"))
      << ran;
}

TEST_F(GuardStore, AMarkSuppressesAFinding) {
  EXPECT_EQ(guard({"--cpu"}, {HOST_PROGRAM, "slack"}).exit, 1);
  EXPECT_EQ(run({"mark", "1", "known"}).exit, 2) << "without a link";
  EXPECT_EQ(
      run({"mark", "1", "known", "--link", "https://example.org/7", "--reason", "benign"}).exit, 0);
  const Ran known = guard({"--cpu"}, {HOST_PROGRAM, "slack"});
  EXPECT_EQ(known.exit, 0) << known;
  EXPECT_TRUE(has(known.err, "suppressed: known, https://example.org/7 (benign)")) << known;
  EXPECT_TRUE(has(known.err, "1 finding, 1 suppressed by marks; the program exited with 0"));
  EXPECT_EQ(guard({"--cpu", "--no-store"}, {HOST_PROGRAM, "slack"}).exit, 0);
  EXPECT_EQ(guard({"--cpu"}, {HOST_PROGRAM, "read_after"}).exit, 1) << "another one";
  const Ran json = guard({"--cpu", "--json"}, {HOST_PROGRAM, "slack"});
  EXPECT_EQ(json.json()["stored"][0]["suppressed"], true) << json;
  EXPECT_EQ(run({"mark", "1", "new"}).exit, 0);
  EXPECT_EQ(guard({"--cpu"}, {HOST_PROGRAM, "slack"}).exit, 1);
}

TEST_F(GuardStore, AReplayRunsTheProgramAsItWasRun) {
  folder_.write("mistake", "");
  ASSERT_EQ(guard({"--cpu"}, sometimes()).exit, 1);
  const std::string db = folder_ / "redzone.db";
  const TempFolder elsewhere;
  const auto replay = [&](const Arguments& more) {
    Arguments all{"replay", "1", "--db", db};
    all.insert(all.end(), more.begin(), more.end());
    return redzone(elsewhere, all);
  };
  const Ran fails = replay({"--runs", "2"});
  EXPECT_EQ(fails.exit, 1) << fails;
  EXPECT_TRUE(has(fails.out, "finding 1: 2 of 2 runs failed as recorded: ")) << fails;
  std::filesystem::remove(folder_ / "mistake");
  const Json passes = replay({"--runs", "3", "--json"}).json();
  EXPECT_EQ(passes["runs"].size(), 3u);
  EXPECT_EQ(passes["runs"][0]["result"], "pass");
  EXPECT_EQ(replay({"--runs", "1"}).exit, 0);
  EXPECT_EQ(replay({"--launch", "gated"}).exit, 2);
  const Ran none = replay({"--runs", "1", "--placement", "guard_before"});
  EXPECT_EQ(none.exit, 0) << none;
  EXPECT_EQ(replay({"--runs", "0"}).exit, 2);
}

TEST_F(GuardStore, AReplayTellsOtherFailuresAndWhatSaysNothing) {
  const std::string deed = folder_.write("deed", "slack");
  const std::string script =
      folder_.write("script.sh", "exec " + kQuotedProgram + " $(cat deed)\n");
  ASSERT_EQ(guard({"--cpu"}, {"sh", script}).exit, 1);
  folder_.write("deed", "read_after");
  const Ran other = run({"replay", "1", "--runs", "2", "--json"});
  EXPECT_EQ(other.exit, 1) << other;
  EXPECT_EQ(other.json()["runs"][0]["result"], "another failure");
  EXPECT_EQ(other.json()["other_finding"], 2);
  // A crash that the guard does not explain is no pass.
  folder_.write("deed", "null");
  const Ran crash = run({"replay", "1", "--runs", "1"});
  EXPECT_EQ(crash.exit, 4) << crash;
  EXPECT_TRUE(has(crash.out, "ended by signal 11")) << crash;
  // Nor is a program that does not end, or one that is not there.
  folder_.write("script.sh", "exec sleep 100\n");
  const Ran hang = run({"replay", "1", "--runs", "5", "--time", "1s"});
  EXPECT_EQ(hang.exit, 4) << hang;
  EXPECT_TRUE(has(hang.out, "did not end within the time limit")) << hang;
}

// A run that cannot have shown the mistake is no pass.
TEST_F(GuardStore, AReplayThatDidNotReachTheMistakeIsNotJudged) {
  folder_.write("deed", "exec " + kQuotedProgram + " slack\n");
  const std::string script = folder_.write("script.sh", ". ./deed\n");
  ASSERT_EQ(guard({"--cpu"}, {"sh", script}).exit, 1);
  const auto replayed = [&](const std::string& deed) {
    folder_.write("deed", deed);
    const Ran ran = run({"replay", "1", "--runs", "1"});
    EXPECT_EQ(ran.exit, 4) << ran;
    return ran.out + ran.err;
  };
  const std::string use = kQuotedProgram + " use\n";
  EXPECT_TRUE(has(replayed(use + "exit 7\n"), "the program ended with 7, not 0"));
  EXPECT_TRUE(has(replayed("exit 0\n"), "no process of program.host_program was judged"));
  EXPECT_TRUE(has(replayed(use + kQuotedProgram + " sent\ntrue\n"), "was ended by a signal"));
  folder_.write("deed", use);
  EXPECT_EQ(run({"replay", "1", "--runs", "1"}).exit, 0);
}

TEST_F(GuardStore, AReplayHasNoInputAndSaysThatTheProgramHasChanged) {
  const std::string program = folder_ / "program";
  std::filesystem::copy_file(HOST_PROGRAM, program);
  const Arguments command{"sh", "-c", "cat; exec " + program + " slack"};
  ASSERT_EQ(guard({"--cpu"}, command).exit, 1);
  EXPECT_FALSE(has(run({"replay", "1", "--runs", "1"}).err, "has changed"));
  std::ofstream(program, std::ios::app) << "x";
  const Ran changed = shell(
      folder_, "mkfifo input && exec 3<>input && \"$REDZONE\" replay 1 --runs 1 --time 30s <&3");
  EXPECT_TRUE(has(changed.err, "the program has changed since: " + program)) << changed;
  EXPECT_TRUE(has(changed.out, "1 of 1 run failed")) << changed;
}

TEST_F(GuardStore, AVariableThatWasNotSetIsUnsetAgain) {
  const Arguments command{"sh", "-c",
                          "test -n \"$MY_SETTING\" || exec " + kQuotedProgram + " slack"};
  ::unsetenv("MY_SETTING");
  ASSERT_EQ(guard({"--cpu", "--env", "MY_SETTING"}, command).exit, 1);
  ::setenv("MY_SETTING", "1", 1);
  const Ran again = run({"replay", "1", "--runs", "1"});
  ::unsetenv("MY_SETTING");
  EXPECT_EQ(again.exit, 1) << again;
  for (const char* name : {"A=B", "", "1A", "LD_PRELOAD"})
    EXPECT_EQ(guard({"--env", name}, {"true"}).exit, 125) << name;
}

// What was seen before a run that could not be started is reported.
TEST_F(GuardStore, AReplayWhoseProgramGoesAwayReportsTheRunsBefore) {
  const std::string script = folder_.write(
      "once.sh", "#!/bin/sh\ntest ! -e armed || rm once.sh\nexec " + kQuotedProgram + " slack\n");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  ASSERT_EQ(guard({"--cpu"}, {script}).exit, 1);
  folder_.write("armed", "");
  const Ran ran = run({"replay", "1", "--runs", "3"});
  EXPECT_EQ(ran.exit, 1) << ran;
  EXPECT_TRUE(has(ran.out, "1 of 1 run failed as recorded")) << ran;
  EXPECT_TRUE(has(ran.err, "no such program")) << ran;
}

TEST_F(GuardStore, ABisectionThatTheTimeEndsSaysSo) {
  folder_.write("deed", "slack");
  const std::string script = folder_.write(
      "script.sh", "test ! -e slow || sleep 100\nexec " + kQuotedProgram + " slack\n");
  ASSERT_EQ(guard({"--cpu"}, {"sh", script}).exit, 1);
  folder_.write("slow", "");
  const Ran ran = run({"bisect", "1", "--time", "1s"});
  EXPECT_EQ(ran.exit, 4) << ran;
  EXPECT_TRUE(has(ran.out, "not decided: ended by the time limit")) << ran;
}

TEST_F(GuardStore, NothingIsJudgedIfNoBlockIsGuarded) {
  const Ran only = guard({"--cpu", "--no-store", "--only", "99999"}, {HOST_PROGRAM, "slack"});
  EXPECT_EQ(only.exit, 125) << only;
  EXPECT_TRUE(has(only.err, "no block was guarded")) << only;
  EXPECT_EQ(
      guard({"--cpu", "--no-store", "--min-bytes", "1000000000"}, {HOST_PROGRAM, "slack"}).exit,
      125);
}

TEST_F(GuardStore, AProgramThatIsGoneIsAHarnessError) {
  const std::string program = folder_ / "program";
  std::filesystem::copy_file(HOST_PROGRAM, program);
  ASSERT_EQ(guard({"--cpu"}, {program, "slack"}).exit, 1);
  std::filesystem::remove(program);
  const Ran gone = run({"replay", "1"});
  EXPECT_EQ(gone.exit, 3) << gone;
  EXPECT_TRUE(has(gone.err, "no such program")) << gone;
}

TEST_F(GuardStore, ABisectionNamesTheSettingsThatMatter) {
  ASSERT_EQ(guard({"--cpu"}, {HOST_PROGRAM, "write_after"}).exit, 1);
  const Ran ran = run({"bisect", "1", "--json"});
  EXPECT_EQ(ran.exit, 1) << ran;
  const Json json = ran.json();
  ASSERT_FALSE(json.is_discarded()) << ran;
  std::map<std::string, std::string> relevance;
  for (const auto& row : json["settings"]) relevance[row["name"]] = row["relevance"];
  EXPECT_EQ(relevance["placement"], "necessary") << ran;
  EXPECT_EQ(relevance["poison"], "irrelevant") << ran;
  const int block = run({"show", "1", "--json"}).json()["program"]["block"];
  EXPECT_EQ(relevance["block " + std::to_string(block)], "necessary") << ran;
  EXPECT_EQ(relevance["other blocks"], "irrelevant") << "the block alone is enough" << ran;
  EXPECT_EQ(json["complete"], true);
  EXPECT_TRUE(has(run({"bisect", "1"}).out, "it needs placement = guard_after")) << "text";
  EXPECT_EQ(run({"bisect", "1", "--dim", "N"}).exit, 2);
  EXPECT_EQ(run({"explain", "1"}).exit, 2);
  EXPECT_EQ(run({"export", "1", "--standalone", "--to", "out"}).exit, 2);
  EXPECT_EQ(run({"reduce", "1"}).exit, 2);
}

TEST_F(GuardStore, AnExportedScriptShowsTheFailure) {
  const std::string odd = "$(touch injected) `x` 'y' \"z\" \\ \n;";
  ASSERT_EQ(guard({"--cpu", "--min-bytes", "512"}, {HOST_PROGRAM, "slack", odd}).exit, 1);
  const Ran exported = run({"export", "1", "--to", "out"});
  ASSERT_EQ(exported.exit, 0) << exported;
  const std::string script = exported.out.substr(0, exported.out.find('\n'));
  EXPECT_TRUE(script.ends_with(".sh")) << script;
  const Ran shown = shell(folder_, "unset REDZONE; cd /; " + (folder_ / script));
  EXPECT_EQ(shown.exit, 127) << "redzone is not in PATH" << shown;
  const Ran ran = shell(folder_, "export REDZONE; cd / && " + (folder_ / script));
  EXPECT_EQ(ran.exit, 1) << ran << read_text(folder_ / script);
  EXPECT_TRUE(has(ran.err, "finding 1: canary: write after a block")) << ran;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "injected"));
}

TEST_F(GuardStore, RunsVaryTheSettings) {
  const Ran ran = guard({"--cpu", "--runs", "4", "--json", "--output", folder_ / "r.json"},
                        {HOST_PROGRAM, "write_after"});
  EXPECT_EQ(ran.exit, 1) << ran;
  const Json json = Json::parse(read_text(folder_ / "r.json"));
  ASSERT_EQ(json["runs"].size(), 4u);
  EXPECT_EQ(json["runs"][0]["findings"].size(), 1u);
  EXPECT_TRUE(has(json["runs"][0]["findings"][0], "guard-page: write in "));
  EXPECT_TRUE(has(json["runs"][1]["findings"][0], "canary: write after a block")) << "other side";
  EXPECT_EQ(json["stored"].size(), 2u);
  const Json stored = run({"show", "1", "--json"}).json();
  EXPECT_EQ(stored["reliability"]["k"], 2);
  EXPECT_EQ(stored["reliability"]["n"], 4);
  EXPECT_EQ(stored["state"], "flaky") << "not seen under all settings";
  EXPECT_EQ(guard({"--runs", "0"}, {"true"}).exit, 125);
}

TEST_F(GuardStore, ProcessesAreAttachedByTwoVariables) {
  const Ran attach = run({"guard", "--attach", "records", "--cpu"});
  ASSERT_EQ(attach.exit, 0) << attach;
  EXPECT_EQ(std::count(attach.out.begin(), attach.out.end(), '\n'), 2) << attach;
  folder_.write("variables", attach.out);
  const Ran program = shell(
      folder_, ". ./variables; export MY_TOKEN=do-not-store-me; exec " + kQuotedProgram + " slack");
  EXPECT_EQ(program.exit, 0) << program;
  const Ran collected = run({"guard", "--collect", "records"});
  EXPECT_EQ(collected.exit, 1) << collected;
  EXPECT_TRUE(has(collected.err, "finding 1: canary: write after a block")) << collected;
  EXPECT_TRUE(has(collected.err, "finding 1 is stored as 1")) << collected;
  EXPECT_EQ(run({"show", "1", "--json"}).json()["program"]["argv"], Json({HOST_PROGRAM, "slack"}));
  EXPECT_EQ(run({"replay", "1", "--runs", "1"}).exit, 1);
  const Ran within =
      shell(folder_, ". ./variables; for i in 1 2; do \"$REDZONE\" guard --collect records; done");
  EXPECT_FALSE(has(within.err, "2 attached")) << within;
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder_.path())) {
    const std::string text = file.is_regular_file() ? read_text(file.path()) : "";
    EXPECT_FALSE(has(text, "do-not-store-me")) << file.path();
  }
  EXPECT_EQ(run({"guard", "--attach", "records"}).exit, 125) << "it exists";
  EXPECT_EQ(run({"guard", "--collect", "nothing"}).exit, 125);
  EXPECT_EQ(run({"guard", "--attach", "a", "--collect", "b"}).exit, 125);
  EXPECT_EQ(run({"guard", "--attach", "a", "--runs", "2"}).exit, 125);
  EXPECT_EQ(run({"guard", "--attach", "a", "--seed", "7"}).exit, 125) << "nothing is held";
  EXPECT_EQ(run({"guard", "--attach", "held", "--launch", "held", "--seed", "7"}).exit, 0);
  EXPECT_TRUE(has(read_text(folder_ / "held/settings"), "seed=7"));
  for (const char* flag : {"--narrow", "--core-dump", "--json", "--no-store"})
    EXPECT_EQ(run({"guard", "--attach", "a", flag}).exit, 125) << flag;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a"));
  for (const char* flag : {"--cpu", "--narrow", "--core-dump", "--no-python-stacks", "--bare"})
    EXPECT_EQ(run({"guard", "--collect", "records", flag}).exit, 125) << flag;
  for (const auto& [flag, value] : {std::pair{"--launch", "blocking"},
                                    {"--check", "each-launch"},
                                    {"--on-error", "continue"},
                                    {"--time", "1s"}})
    EXPECT_EQ(run({"guard", "--collect", "records", flag, value}).exit, 125) << flag;
  EXPECT_EQ(run({"guard", "--attach", "a\nb"}).exit, 125);
  // LD_PRELOAD can name no link in it where the build's path has a space, too.
  const std::string name = has(HOST_PROGRAM, " ") ? "it's_$x_ü" : "it's $x ü";
  const Ran odd = run({"guard", "--attach", name, "--cpu"});
  folder_.write("odd", odd.out);
  EXPECT_EQ(shell(folder_, ". ./odd; exec " + kQuotedProgram + " slack").exit, 0);
  EXPECT_EQ(run({"guard", "--collect", name}).exit, 1) << odd;
  EXPECT_FALSE(has(run({"show", "1", "--json"}).out, "LD_PRELOAD"));
  std::filesystem::create_directory(folder_ / "empty");
  EXPECT_EQ(run({"guard", "--collect", "empty"}).exit, 125);
}

TEST_F(GuardStore, AttachedProcessesHaveTheFrameworksToo) {
  const Ran attach = run({"guard", "--attach", "records", "--framework", "auto"});
  ASSERT_EQ(attach.exit, 0) << attach;
  for (const char* name : {"PYTHONPATH", "REDZONE_GUARD_FRAMEWORKS", "XLA_PYTHON_CLIENT_ALLOCATOR"})
    EXPECT_TRUE(has(attach.out, std::string("export ") + name + "=")) << attach;
  folder_.write("variables", attach.out);
  const Ran program =
      shell(folder_, ". ./variables; exec python3 -c 'import redzone_guard_frameworks'");
  EXPECT_EQ(program.exit, 0) << program;
  EXPECT_EQ(run({"guard", "--attach", "other", "--framework", "tensorflow"}).exit, 125);
  EXPECT_EQ(run({"guard", "--collect", "records", "--framework", "auto"}).exit, 125);
}

TEST_F(GuardStore, ARecordThatIsCollectedAgainCountsOnce) {
  folder_.write("variables", run({"guard", "--attach", "records", "--cpu"}).out);
  const auto attached = [&] {
    return shell(folder_, ". ./variables; exec " + kQuotedProgram + " slack").exit;
  };
  const auto occurrences = [&] { return run({"show", "1", "--json"}).json()["occurrences"]; };
  ASSERT_EQ(attached(), 0);
  ASSERT_EQ(attached(), 0);
  EXPECT_EQ(run({"guard", "--collect", "records"}).exit, 1);
  EXPECT_EQ(occurrences(), 2) << "each process counts";
  const Ran again = run({"guard", "--collect", "records"});
  EXPECT_EQ(again.exit, 1) << again;
  EXPECT_TRUE(has(again.err, "finding 1 is stored as 1")) << again;
  EXPECT_EQ(occurrences(), 2);
  ASSERT_EQ(attached(), 0);
  EXPECT_EQ(run({"guard", "--collect", "records"}).exit, 1);
  EXPECT_EQ(occurrences(), 3) << "one that came since counts";
  EXPECT_EQ(run({"db", "check"}).exit, 0);
  // Another store has not had them; the two are of the same processes.
  EXPECT_EQ(run({"guard", "--collect", "records", "--db", "b.db"}).exit, 1);
  EXPECT_EQ(run({"merge", "b.db", "--into", "redzone.db"}).exit, 0);
  EXPECT_EQ(occurrences(), 3);
}

TEST_F(GuardStore, WhatAnotherStoreSaysToRunNeedsForce) {
  folder_.write("program.sh", "touch \"$1/was-run\"; exec " + kQuotedProgram + " slack\n");
  ASSERT_EQ(guard({"--cpu", "--db", "theirs.db"}, {"sh", "program.sh", folder_.path()}).exit, 1);
  ASSERT_EQ(run({"merge", "theirs.db", "--into", "redzone.db"}).exit, 0);
  std::filesystem::remove(folder_ / "was-run");
  for (const Arguments& command : {Arguments{"replay", "1"}, Arguments{"bisect", "1"}}) {
    const Ran ran = run(command);
    EXPECT_EQ(ran.exit, 2) << ran;
    EXPECT_TRUE(has(ran.err, "finding 1 came from another store with a merge")) << ran;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran;
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "was-run"));
  EXPECT_EQ(run({"replay", "1", "--runs", "1", "--force"}).exit, 1);
  EXPECT_EQ(run({"replay", "1", "--runs", "1", "--db", "theirs.db"}).exit, 1) << "where it was run";
  ASSERT_EQ(guard({"--cpu"}, {"sh", "program.sh", folder_.path()}).exit, 1);
  EXPECT_EQ(run({"replay", "1", "--runs", "1"}).exit, 1) << "it was run here since";
}

TEST_F(GuardStore, ACheckReadsTheSettings) {
  ASSERT_EQ(guard({"--cpu"}, {HOST_PROGRAM, "slack"}).exit, 1);
  ASSERT_EQ(run({"db", "check"}).exit, 0);
  SQLite::Database(std::string(folder_ / "redzone.db"), SQLite::OPEN_READWRITE)
      .exec("UPDATE findings SET origin_document = replace(origin_document, 'cpu=1', 'cpu=17')");
  const Ran ran = run({"db", "check"});
  EXPECT_EQ(ran.exit, 5) << ran;
  EXPECT_TRUE(has(ran.out, "finding 1: the settings")) << ran;
}

TEST_F(GuardStore, BlocksAreChosenByTheirNumbers) {
  const auto finds = [&](const Arguments& options) {
    Arguments all{"--cpu", "--no-store"};
    all.insert(all.end(), options.begin(), options.end());
    return guard(all, {HOST_PROGRAM, "slack"}).exit;
  };
  guard({"--cpu", "--json", "--output", folder_ / "r.json"}, {HOST_PROGRAM, "slack"});
  const int block = Json::parse(read_text(folder_ / "r.json"))["findings"][0]["block"]["ordinal"];
  const std::string number = std::to_string(block);
  EXPECT_EQ(finds({"--only", number}), 1);
  EXPECT_EQ(finds({"--only", "1-" + number}), 1);
  EXPECT_EQ(finds({"--only", std::to_string(block + 1)}), 125) << "there is none";
  EXPECT_EQ(finds({"--skip", number}), 0);
  for (const char* wrong : {"0", "5-3", "x", "1-", "-1", "1-2-3", ""})
    EXPECT_EQ(finds({"--only", wrong}), 125) << wrong;
}

TEST_F(GuardStore, DoctorTestsTheGuard) {
  const Json json = run({"doctor", "--json"}).json();
  const auto line = [&](const char* what) {
    for (const auto& each : json["lines"])
      if (each["what"] == what) return each;
    return Json();
  };
  EXPECT_EQ(line("guard of malloc()")["ok"], true) << json.dump(1);
  EXPECT_EQ(json["guard_ok"], true) << json.dump(1);
  const Json driver = line("guard of the CUDA driver");
  EXPECT_EQ(driver["ok"], line("GPU")["ok"]) << json.dump(1);
  EXPECT_EQ(driver["found"] == "not proven: no device", line("GPU")["ok"] == false) << driver;
  // The mistake that it plants for a GPU, over the stand-in for the driver.
  ::setenv("LD_LIBRARY_PATH", FAKE_DRIVER_DIR, 1);
  const Ran ran =
      shell(folder_, "\"$REDZONE\" guard --no-store -- \"$REDZONE\" planted-overrun --driver");
  ::unsetenv("LD_LIBRARY_PATH");
  EXPECT_EQ(ran.exit, 1) << ran;
  EXPECT_TRUE(has(ran.err, "range: write of cuMemsetD8Async in ")) << ran;
}

TEST_F(GuardStore, ADeviceErrorIsBisectedToItsBlock) {
  ::setenv("LD_LIBRARY_PATH", FAKE_DRIVER_DIR, 1);
  EXPECT_EQ(guard({}, {DRIVER_PROGRAM, "dlsym", "overrun"}).exit, 1);
  const Ran ran = run({"bisect", "1", "--json"});
  EXPECT_EQ(ran.exit, 1) << ran;
  const Json json = ran.json();
  ASSERT_TRUE(json["blocks"].is_array()) << ran;
  EXPECT_EQ(json["blocks_decided"], true) << ran;
  EXPECT_EQ(json["blocks"][0], json["blocks"][1]) << ran;
  // It is enough, and it is needed: no other block has both.
  const std::string block = json["blocks"][0].dump();
  const auto code = [&](const char* flag) {
    return guard({"--no-store", flag, block}, {DRIVER_PROGRAM, "dlsym", "overrun"}).exit;
  };
  EXPECT_EQ(code("--only"), 1) << block;
  EXPECT_NE(code("--skip"), 1) << block;
  ::unsetenv("LD_LIBRARY_PATH");
}

}  // namespace
}  // namespace redzone::e2e
