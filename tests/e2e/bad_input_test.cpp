// User errors: each gives one line on stderr that names the mistake and its place, exits with the
// documented code, and creates or changes no file.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <map>

#include "e2e/cli.h"

namespace redzone::e2e {
namespace {

struct Bad {
  const char* name;
  Arguments arguments;
  std::vector<std::string> says;  // each must be in the message
  int exit = 2;
};

void PrintTo(const Bad& bad, std::ostream* out) {
  *out << bad.name;
}

constexpr const char* kHead = R"(redzone_plan = 1
target = "puzzle.last_tile"

[mode]
launch = "blocking"
allocator = "guard"
placement = "guard_after"
poison = "0xffffffff"
schedule_seed = 0
)";
constexpr const char* kStep = R"(
[[step]]
do = "call"
dims = { N = 1 }
seed = 1
)";
constexpr const char* kExpect = R"(
[expect]
oracle = "fault"
kind = "illegal-access"
)";

constexpr const char* kFleet = R"({
  "uid": "0123456789abcdef0123456789abcdef",
  "created": "2026-01-02T03:04:05Z",
  "version": "0.2.0",
  "shards": 2,
  "seed": 7,
  "nightly": ["--all"],
  "reruns": [],
  "models": [{"name": "", "shards": 2}],
  "seconds": 60.0,
  "snapshot_seconds": 120.0,
  "lease_seconds": 600.0
}
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

// All files of a folder with their contents, except the output of the commands.
std::map<std::string, std::string> contents(const TempFolder& folder) {
  std::map<std::string, std::string> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    const std::string name = entry.path().lexically_relative(folder.path()).string();
    if (name.rfind(".run", 0) == 0) continue;
    out[name] = entry.is_regular_file() ? read_text(entry.path()) : "(a folder)";
  }
  return out;
}

class BadInput : public testing::TestWithParam<Bad> {
 protected:
  void SetUp() override {
    const std::string good = std::string(kHead) + kStep;
    const std::string known = std::string(kHead) + kExpect + kStep;
    write("plan.toml", good);
    write("known.toml", known);
    write("version.toml", replaced(good, "redzone_plan = 1", "redzone_plan = 99"));
    write("truncated.toml", good.substr(0, good.size() - 14));
    write("binary.toml", std::string("\x7f"
                                     "ELF\0\1\2\3\xff\xfe",
                                     10));
    write("empty.toml", "");
    write("target.toml", replaced(good, "last_tile", "last_tyle"));
    write("dim.toml", replaced(good, "N = 1", "M = 1"));
    write("constraint.toml", replaced(good, "N = 1", "N = 1000000"));
    write("value.toml", replaced(good, "N = 1", "N = \"one\""));
    write("knob.toml", replaced(good, "seed = 1", "config = { num_worps = 4 }\nseed = 1"));
    write("knob_value.toml", replaced(replaced(good, "last_tile", "cache_key"), "dims = { N = 1 }",
                                      "dims = { N = 1, D = 1 }\nconfig = { block = 65 }"));
    write("layout.toml",
          replaced(good, "seed = 1", "layout = { z = { row_padding = 1 } }\nseed = 1"));
    write("launch.toml", replaced(good, "\"blocking\"", "\"sideways\""));
    write("step.toml", replaced(good, "\"call\"", "\"jump\""));
    write("repeat.toml", replaced(good, "seed = 1", "seed = 1\nrepeat = 0"));
    write("key.toml", replaced(good, "seed = 1", "sead = 1"));
    write("oracle.toml", replaced(known, "\"fault\"", "\"astrology\""));
    write("kind.toml", replaced(known, "\"illegal-access\"", "\"bad-luck\""));
    write("no_call.toml", std::string(kHead) + "[[step]]\ndo = \"sync\"\n");
    write("text.db",
          "This is no database, although it is longer than the header of one would be. "
          "So it must be looked at, and left as it is.");
    write("not_elf.so", "#!/bin/sh\n");
    for (const char* name : {"fleet", "cut_fleet", "wrong_fleet"})
      std::filesystem::create_directory(folder_.path() / name);
    write("fleet/fleet.json", kFleet);
    write("cut_fleet/fleet.json", std::string(kFleet).substr(0, 90));
    write("wrong_fleet/fleet.json", replaced(kFleet, "\"shards\": 2", "\"shards\": \"two\""));
    std::filesystem::create_directory(folder_.path() / "folder");
    const Ran made = redzone(folder_, {"import", "known.toml", "--db", "good.db"});
    ASSERT_EQ(made.exit, 0) << made;
    // The version of a store is SQLite's user_version: four bytes at offset 60, big-endian.
    std::string newer = read_text(folder_ / "good.db");
    ASSERT_GT(newer.size(), 100u);
    newer[62] = 3;
    write("newer.db", newer);
  }

  void write(const std::string& name, const std::string& text) { folder_.write(name, text); }

  const TempFolder folder_;
};

TEST_P(BadInput, IsOneLineAndChangesNothing) {
  const Bad& bad = GetParam();
  const auto before = contents(folder_);
  const Ran ran = redzone(folder_, bad.arguments);
  EXPECT_EQ(ran.exit, bad.exit) << ran;
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err.rfind("redzone: ", 0), 0u) << ran;
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran;
  EXPECT_EQ(ran.err.back(), '\n');
  for (const auto& text : bad.says) EXPECT_NE(ran.err.find(text), std::string::npos) << ran;
  EXPECT_EQ(contents(folder_), before);
}

const auto kNameOf = [](const auto& info) { return std::string(info.param.name); };

INSTANTIATE_TEST_SUITE_P(
    CommandLine, BadInput,
    testing::ValuesIn(std::vector<Bad>{
        {"command", {"runn"}, {"unknown command 'runn'", "did you mean 'run'"}},
        {"flag", {"run", "--plan", "3", "--sed", "1"}, {"--sed", "did you mean '--seed'"}},
        {"flag_without_value", {"run", "--time"}, {"--time"}},
        {"flag_as_value",
         {"findings", "--db", "--json"},
         {"findings: --db needs a value, and '--json' is a flag"}},
        {"short_flag_as_value", {"findings", "--db", "-v"}, {"option '--db' is missing"}},
        {"value_like_a_flag", {"show", "1", "--db=--json"}, {"--json does not exist"}},
        {"too_many_words", {"show", "1", "2"}, {"show"}},
        {"no_word", {"show"}, {"show: ID is missing; see 'redzone show --help'"}},
        {"no_plan", {"replay"}, {"replay: ID|PLAN.toml is missing"}},
        {"no_word_of_two", {"mark"}, {"mark: ID is missing"}},
        {"no_action_of_fleet",
         {"fleet"},
         {"fleet: submit or status|stop|report or shard|hub|examine is missing"}},
        {"no_folder", {"fleet", "submit"}, {"fleet: --dir is missing"}},
        {"second_word", {"mark", "1"}, {"mark: known|quarantined|new is missing"}},
        {"no_files", {"merge", "--into", "new.db"}, {"merge: FILE... is missing"}},
        {"no_action", {"db"}, {"db: stats|check|prune|copy is missing"}},
        {"no_action_of_tma", {"tma"}, {"tma: explain or agree is missing"}},
        {"prune_without_days", {"db", "prune"}, {"db prune: --keep-days is missing"}},
        {"copy_without_file", {"db", "copy"}, {"db copy: --to is missing"}},
        {"days_of_check",
         {"db", "check", "--keep-days", "3"},
         {"db check: takes no --keep-days, which is for prune"}},
        {"target_of_status",
         {"fleet", "status", "twin.last_tile", "--dir", "fleet"},
         {"fleet status: takes no --target, which is for submit"}},
        {"index_of_hub",
         {"fleet", "hub", "--dir", "fleet", "--local", ".", "--index", "1"},
         {"takes no --index, which is for shard and examine"}},
        {"source_of_plan",
         {"export", "1", "--to", "out", "--source", "my.cu", "--db", "good.db"},
         {"--source is for --standalone"}},
        {"time", {"run", "--time", "soon"}, {"--time", "'soon'"}},
        {"time_of_zero", {"run", "--time", "0s"}, {"--time", "'0s'"}},
        {"plans", {"run", "--plans", "some"}, {"--plans", "some"}},
        {"negative_plans", {"run", "--plans", "-1"}, {"--plans", "-1"}},
        {"negative_seed", {"run", "--seed", "-1"}, {"--seed", "-1"}},
        {"workers", {"run", "--workers", "0"}, {"--workers", "1..64"}},
        {"deadline", {"run", "--deadline", "1d"}, {"--deadline", "'1d'"}},
        {"device", {"run", "--device", "tpu"}, {"'tpu'", "auto, cuda, dry-run, host"}},
        {"target",
         {"run", "puzzle.last_tyle", "--device", "host", "--db", "new.db"},
         {"puzzle.last_tyle", "did you mean 'puzzle.last_tile'"}},
        {"pattern", {"run", "no_such_*"}, {"no target for the device", "'no_such_*'"}},
        {"target_to_list", {"targets", "chunk_fwd_hh"}, {"did you mean 'chunk_fwd_h'"}},
        {"runs", {"replay", "plan.toml", "--runs", "0"}, {"--runs", "1..10000"}},
        {"runs_beyond_64_bits",
         {"replay", "plan.toml", "--runs", "99999999999999999999"},
         {"--runs", "a whole number from 0 to 18446744073709551615"}},
        {"launch", {"replay", "plan.toml", "--launch", "sideways"}, {"sideways", "gated"}},
        {"placement", {"replay", "plan.toml", "--placement", "middle"}, {"middle", "guard_before"}},
        {"allocator", {"replay", "plan.toml", "--allocator", "heap"}, {"heap", "caching"}},
        {"finding", {"show", "seven", "--db", "good.db"}, {"'seven'"}},
        {"report_onto_the_store",
         {"report", "--db", "good.db", "--out", "good.db"},
         {"--out", "is the store"}},
        {"builds_that_are_flags",
         {"bisect", "1", "--db", "good.db", "--builds", "--device", "host"},
         {"--builds", "'--device'"}},
        {"export_without_folder", {"export", "1", "--db", "good.db"}, {"--to"}},
    }),
    kNameOf);

INSTANTIATE_TEST_SUITE_P(
    Plan, BadInput,
    testing::ValuesIn(std::vector<Bad>{
        {"missing", {"replay", "missing.toml"}, {"missing.toml"}},
        {"folder", {"replay", "folder"}, {"folder", "is a folder"}},
        {"version", {"replay", "version.toml"}, {"version.toml", "99", "1"}},
        {"truncated", {"replay", "truncated.toml"}, {"truncated.toml:"}},
        {"binary", {"replay", "binary.toml"}, {"binary.toml"}},
        {"empty", {"replay", "empty.toml"}, {"empty.toml", "redzone_plan"}},
        {"target", {"replay", "target.toml"}, {"target.toml", "did you mean 'puzzle.last_tile'"}},
        {"dim", {"replay", "dim.toml"}, {"dim.toml", "'M'"}},
        {"constraint", {"replay", "constraint.toml"}, {"constraint.toml", "N", "1000000"}},
        {"value", {"replay", "value.toml"}, {"value.toml", "N"}},
        {"knob", {"replay", "knob.toml"}, {"knob.toml", "num_worps"}},
        {"knob_value", {"replay", "knob_value.toml"}, {"knob_value.toml", "block", "65"}},
        {"layout", {"replay", "layout.toml"}, {"layout.toml", "'z'"}},
        {"launch", {"replay", "launch.toml"}, {"launch.toml", "sideways", "gated"}},
        {"step", {"replay", "step.toml"}, {"step.toml", "jump"}},
        {"repeat", {"replay", "repeat.toml"}, {"repeat.toml", "repeat"}},
        {"key", {"replay", "key.toml"}, {"key.toml", "sead"}},
        {"no_call", {"replay", "no_call.toml"}, {"no_call.toml", "makes no call"}},
        {"no_plans", {"run", "twin.last_tile", "--plans", "0"}, {"--plans", "at least 1"}},
        {"launch_of_a_run", {"run", "twin.last_tile", "--launch", "late"}, {"late", "gated"}},
        {"allocator_of_a_run",
         {"run", "twin.last_tile", "--allocator", "mine"},
         {"mine", "caching"}},
        {"puzzle_of_another_part",
         {"bench", "--part", "faults", "--puzzle", "puzzle.index32"},
         {"--puzzle", "modes"}},
        {"target_as_a_puzzle",
         {"bench", "--part", "modes", "--puzzle", "twin.index32", "--device", "host"},
         {"--puzzle twin.index32"}},
        {"part_of_a_bench", {"bench", "--part", "mine"}, {"--part mine", "modes"}},
        {"package_that_is_a_file", {"targets", "--package", "plan.toml"}, {"plan.toml", "folder"}},
        {"oracle", {"replay", "oracle.toml"}, {"oracle.toml", "astrology"}},
        {"kind", {"replay", "kind.toml"}, {"kind.toml", "bad-luck"}},
        {"imported_without_expectation",
         {"import", "plan.toml", "--db", "new.db"},
         {"plan.toml", "[expect]", "redzone replay plan.toml"}},
        {"imported_of_another_version",
         {"import", "version.toml", "--db", "good.db"},
         {"version.toml"}},
        {"imported_after_a_good_one",
         {"import", "known.toml", "knob.toml", "--db", "new.db"},
         {"knob.toml"}},
        {"imported_with_an_unknown_target",
         {"import", "known.toml", "target.toml", "--db", "good.db"},
         {"target.toml"}},
    }),
    kNameOf);

const std::string kPlugins = std::string(DAMAGED_PLUGINS) + "/";

INSTANTIATE_TEST_SUITE_P(
    Plugin, BadInput,
    testing::ValuesIn(std::vector<Bad>{
        {"missing", {"targets", "--plugin", "missing.so"}, {"missing.so"}},
        {"folder", {"targets", "--plugin", "folder"}, {"folder"}},
        {"not_elf", {"targets", "--plugin", "not_elf.so"}, {"not_elf.so"}},
        {"wrong_abi", {"targets", "--plugin", kPlugins + "wrong_abi.so"}, {"wrong_abi.so", "ABI"}},
        {"no_symbol", {"targets", "--plugin", kPlugins + "no_symbol.so"}, {"no_symbol.so"}},
        {"bad_spec", {"targets", "--plugin", kPlugins + "bad_spec.so"}, {"bad_spec.so", "broken"}},
        {"duplicate",
         {"targets", "--plugin", kPlugins + "good.so", "--plugin", kPlugins + "duplicate.so"},
         {"duplicate.so", "scan.forward", "good.so"}},
        {"throws", {"targets", "--plugin", kPlugins + "throws.so"}, {"throws.so", "no license"}},
        {"throws_early",
         {"targets", "--plugin", kPlugins + "throws_early.so"},
         {"throws_early.so"}},
        {"exits", {"targets", "--plugin", kPlugins + "exits.so"}, {"exits.so", "code 7"}},
        {"segfaults", {"targets", "--plugin", kPlugins + "segfaults.so"}, {"SIGSEGV"}},
        {"aborts", {"targets", "--plugin", kPlugins + "aborts.so"}, {"aborts.so", "SIGABRT"}},
        {"hangs", {"targets", "--plugin", kPlugins + "hangs.so"}, {"hangs.so", "did not load"}},
        {"segfaults_before_a_campaign",
         {"run", "--plugin", kPlugins + "segfaults.so", "--db", "new.db", "--device", "host"},
         {"segfaults.so"}},
        {"exits_before_a_replay",
         {"replay", "plan.toml", "--plugin", kPlugins + "exits.so", "--device", "host"},
         {"exits.so"}},
        {"exits_before_the_doctor", {"doctor", "--plugin", kPlugins + "exits.so"}, {"exits.so"}},
    }),
    kNameOf);

Arguments short_run(const std::string& db) {
  return {"run", "twin.last_tile", "--device", "host", "--plans", "1", "--db", db};
}

INSTANTIATE_TEST_SUITE_P(
    Store, BadInput,
    testing::ValuesIn(std::vector<Bad>{
        {"missing_for_findings", {"findings", "--db", "missing.db"}, {"missing.db"}},
        {"missing_for_show", {"show", "1", "--db", "missing.db"}, {"missing.db"}},
        {"missing_for_replay", {"replay", "1", "--db", "missing.db"}, {"missing.db"}},
        {"missing_for_reduce", {"reduce", "1", "--db", "missing.db"}, {"missing.db"}},
        {"missing_for_export",
         {"export", "1", "--to", "out", "--db", "missing.db"},
         {"missing.db"}},
        {"no_such_finding", {"show", "99", "--db", "good.db"}, {"99", "good.db"}},
        {"no_such_finding_to_replay", {"replay", "99", "--db", "good.db"}, {"99", "good.db"}},
        {"no_such_finding_to_reduce", {"reduce", "99", "--db", "good.db"}, {"99", "good.db"}},
        {"no_such_finding_to_export",
         {"export", "1", "99", "--to", "out", "--db", "good.db"},
         {"99", "good.db"}},
        {"text", {"findings", "--db", "text.db"}, {"text.db"}},
        {"text_to_write", short_run("text.db"), {"text.db"}},
        {"newer", {"findings", "--db", "newer.db"}, {"newer.db", "newer"}},
        {"newer_to_write", short_run("newer.db"), {"newer.db", "newer"}},
        {"newer_to_import", {"import", "known.toml", "--db", "newer.db"}, {"newer.db", "newer"}},
        {"folder", {"findings", "--db", "folder"}, {"folder"}},
        {"folder_to_write", short_run("folder"), {"folder"}},
        {"no_folder", short_run("nowhere/new.db"), {"nowhere"}},
        // Nobody can create files there, not even root.
        {"read_only_folder", short_run("/proc/new.db"), {"/proc"}},
        {"export_into_a_file",
         {"export", "1", "--to", "plan.toml", "--db", "good.db"},
         {"plan.toml"}},
    }),
    kNameOf);

INSTANTIATE_TEST_SUITE_P(
    Fleets, BadInput,
    testing::ValuesIn(std::vector<Bad>{
        {"NotShared",
         {"fleet", "shard", "--dir", "folder", "--index", "1", "--local", "."},
         {"folder: holds no fleet", "is the folder shared?"}},
        {"AnotherFleet",
         {"fleet", "hub", "--dir", "fleet", "--uid", std::string(32, 'f'), "--local", "."},
         {"fleet: holds another fleet than the one of this job", "share the folder?"}},
        {"Cut",
         {"fleet", "status", "--dir", "cut_fleet"},
         {"fleet.json: no JSON: it ends too early"}},
        {"Wrong",
         {"fleet", "report", "--dir", "wrong_fleet"},
         {"fleet.json: shards: an integer is expected, not a string"}},
        {"TwoInOneFolder",
         {"fleet", "submit", "--dir", "fleet", "--shards", "2", "--all"},
         {"holds a fleet already: name another folder"}},
        {"DryRunInOneFolder",
         {"fleet", "submit", "--dir", "fleet", "--shards", "2", "--all", "--dry-run"},
         {"holds a fleet already: name another folder"}},
        {"DryRunInAFile",
         {"fleet", "submit", "--dir", "newer.db", "--shards", "2", "--all", "--dry-run"},
         {"newer.db: Not a directory"}},
        {"NoName",
         {"fleet", "submit", "--dir", "", "--shards", "2", "--all"},
         {"--dir: the name of a folder is expected"}},
        {"CannotBeWritten",
         {"fleet", "submit", "--dir", "/proc/fleet", "--shards", "2", "--all"},
         {"/proc/fleet: "}},
        {"NewerStore",
         {"fleet", "submit", "--dir", "new", "--shards", "2", "--all", "--known", "newer.db"},
         {"newer.db", "use a newer redzone"}},
        {"NoKnownStore",
         {"fleet", "submit", "--dir", "new", "--shards", "2", "--known", "none.db", "--dry-run"},
         {"none.db does not exist"}},
        {"NoTarget",
         {"fleet", "submit", "--dir", "new", "--shards", "2", "last_tile", "--dry-run"},
         {"last_tile"}},
        {"NoTargetLike",
         {"fleet", "submit", "--dir", "new", "--shards", "2", "no_*", "--dry-run"},
         {"no target has a name like 'no_*'"}},
        {"NoPlugin",
         {"fleet", "submit", "--dir", "new", "--shards", "2", "--plugin", "none.so", "--dry-run"},
         {"none.so: no such file"}},
        {"NoShards",
         {"fleet", "submit", "--dir", "new", "--all"},
         {"fleet submit: --shards is missing"}},
        {"ZeroShards",
         {"fleet", "submit", "--dir", "new", "--all", "--shards", "0"},
         {"--shards: 1..4096"}},
        {"Seed",
         {"fleet", "submit", "--dir", "new", "--shards", "2", "--all", "--seed",
          "18446744073709551615"},
         {"--seed: at most 9223372036854775807"}},
        {"NoSite",
         {"fleet", "submit", "--dir", "new", "--shards", "2", "--all", "--site", "none.toml"},
         {"none.toml: no such file"}},
    }),
    kNameOf);

TEST(BadDevice, CudaWithoutAGpuIsAHarnessError) {
  const TempFolder folder;
  const Json doctor = redzone(folder, {"doctor", "--json"}).json();
  for (const auto& line : doctor["lines"])
    if (line["what"] == "GPU" && line["ok"] == true) GTEST_SKIP() << "there is a GPU";
  folder.write("plan.toml", std::string(kHead) + kStep);
  for (const auto& arguments : {Arguments{"run", "--device", "cuda", "--plans", "1"},
                                Arguments{"replay", "plan.toml", "--device", "cuda"}}) {
    const auto before = contents(folder);
    const Ran ran = redzone(folder, arguments);
    EXPECT_EQ(ran.exit, 3) << ran;
    EXPECT_EQ(ran.err.rfind("redzone: device cuda is not usable here: ", 0), 0u) << ran;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran;
    EXPECT_EQ(contents(folder), before);
  }
}

}  // namespace
}  // namespace redzone::e2e
