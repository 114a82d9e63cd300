// Malicious files, stores and names: each is refused in one line with a documented exit code, and
// none of their contents reach a terminal, a shell or another folder.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include "e2e/cli.h"
#include "package/sample.h"

namespace redzone::e2e {
namespace {

constexpr const char* kSoundPlan = R"(redzone_plan = 1
target = "puzzle.last_tile"

[mode]
launch = "blocking"
allocator = "guard"
placement = "guard_after"
poison = "0xffffffff"
schedule_seed = 0

[expect]
oracle = "fault"
kind = "illegal-access"

[[step]]
do = "call"
dims = { N = 1 }
seed = 1
)";

const std::string kEscape = "\x1b]0;pwned\x07\xc2\x9b\x32J\xff";

bool steers(const std::string& text) {
  return text.find_first_of("\x1b\x07\x7f") != std::string::npos ||
         text.find("\xc2\x9b") != std::string::npos || text.find('\xff') != std::string::npos;
}

std::string deep_keys() {
  std::string text;
  for (int i = 0; i < 150'000; ++i) text += "a.";
  return text + "a = 1\n";
}

class Hostile : public testing::Test {
 protected:
  void make_store() {
    folder_.write("plan.toml", kSoundPlan);
    const Ran made = redzone(folder_, {"import", "plan.toml", "--db", "x.db"});
    ASSERT_EQ(made.exit, 0) << made;
  }
  void change(const std::string& statement, const std::string& value = "") {
    SQLite::Database sql(folder_ / "x.db", SQLite::OPEN_READWRITE);
    SQLite::Statement change(sql, statement);
    if (!value.empty()) change.bind(1, value);
    change.exec();
  }
  void refused(const Arguments& arguments, int exit, const std::string& says) {
    const Ran ran = redzone(folder_, arguments);
    EXPECT_EQ(ran.exit, exit) << ran;
    EXPECT_NE(ran.err.find(says), std::string::npos) << ran;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran;
  }

  const TempFolder folder_;
};

TEST_F(Hostile, DeepKeysEndNoProcess) {
  folder_.write("deep.toml", deep_keys());
  std::filesystem::create_directory(folder_.path() / "package");
  folder_.write("package/target.toml", deep_keys());
  refused({"import", "deep.toml", "--db", "x.db"}, 2, "deep.toml:1:");
  refused({"replay", "deep.toml"}, 2, "deep.toml:1:");
  refused({"targets", "--package", "package"}, 2, "target.toml:1:");
}

TEST_F(Hostile, ADeepPlanInACorpusLeavesTheNightItsReport) {
  std::filesystem::create_directory(folder_.path() / "corpus");
  folder_.write("corpus/deep.toml", deep_keys());
  folder_.write("corpus/good.toml", kSoundPlan);
  const Ran ran = redzone(folder_, {"nightly", "twin.last_tile", "--device", "host", "--plans", "5",
                                    "--corpus", "corpus", "--db", "x.db", "--report", "out"});
  EXPECT_LE(ran.exit, 4) << ran;
  EXPECT_NE(ran.out.find("deep.toml"), std::string::npos) << ran;
  EXPECT_TRUE(std::filesystem::exists(folder_ / "out/night.json")) << ran;
}

TEST_F(Hostile, MoreFailedRunsThanRunsIsAnError) {
  make_store();
  change("UPDATE findings SET failed_runs = 5, runs = 3");
  for (const char* command : {"show", "replay", "reduce", "bisect"})
    refused({command, "1", "--db", "x.db"}, 5, "not sound: finding 1: failed_runs");
  refused({"findings", "--db", "x.db"}, 5, "not sound: finding 1: failed_runs");
  const Ran check = redzone(folder_, {"db", "check", "--db", "x.db"});
  EXPECT_EQ(check.exit, 5) << check;
  EXPECT_NE(check.out.find("finding 1: failed_runs"), std::string::npos) << check;
}

TEST_F(Hostile, AnExportStaysInItsFolder) {
  make_store();
  std::filesystem::create_directories(folder_.path() / "outside");
  for (const char* statement : {"UPDATE findings SET target = ?",
                                "UPDATE plans SET text = replace(text, "
                                "'puzzle.last_tile', ?)"}) {
    change(statement, "../../outside/x");
    const Ran ran = redzone(folder_, {"export", "1", "--to", "in/here", "--db", "x.db"});
    EXPECT_EQ(ran.exit, 5) << ran;
    EXPECT_TRUE(std::filesystem::is_empty(folder_.path() / "outside")) << ran;
  }
}

TEST_F(Hostile, NoErrorSteersTheTerminal) {
  make_store();
  const std::string odd = "x" + kEscape;
  folder_.write("odd.toml", "redzone_plan = 1\ntarget = \"" + std::string("a\\u001B[2J") +
                                "\"\n[[step]]\ndo = \"call\"\n");
  for (const Arguments& arguments :
       {Arguments{"replay", odd}, Arguments{"replay", "odd.toml"}, Arguments{odd},
        Arguments{"run", "--" + odd}, Arguments{"run", odd, "--device", "host"},
        Arguments{"targets", odd}, Arguments{"show", "1", "--db", odd},
        Arguments{"db", "check", "--db", odd}, Arguments{"import", odd}}) {
    const Ran ran = redzone(folder_, arguments);
    EXPECT_GE(ran.exit, 2) << ran;
    EXPECT_LE(ran.exit, 5) << ran;
    EXPECT_FALSE(steers(ran.out + ran.err)) << arguments.front() << ran;
  }
}

// Every text of a row that a command prints.
TEST_F(Hostile, NothingStoredSteersTheTerminal) {
  make_store();
  for (const char* column : {"reason", "oracle", "fault_detail", "location", "buffer", "side"})
    change(std::string("UPDATE findings SET ") + column + " = ?", "a" + kEscape + "b");
  for (const char* column : {"device", "driver", "toolkit", "host"})
    change(std::string("UPDATE environments SET ") + column + " = ?", "a" + kEscape + "b");
  for (const Arguments& arguments :
       {Arguments{"findings"}, Arguments{"findings", "--json"}, Arguments{"show", "1"},
        Arguments{"show", "1", "--json"}, Arguments{"export", "1", "--to", "out"},
        Arguments{"replay", "1", "--device", "host"}, Arguments{"db", "check"},
        Arguments{"db", "stats"}}) {
    Arguments all = arguments;
    all.insert(all.end(), {"--db", "x.db"});
    const Ran ran = redzone(folder_, all);
    EXPECT_FALSE(steers(ran.out + ran.err)) << arguments.front() << ran;
    if (arguments.back() == "--json") {
      EXPECT_FALSE(ran.json().is_discarded()) << ran;
    }
  }
}

TEST_F(Hostile, AResumedNightShowsItsCommandAsText) {
  const Arguments night{"nightly", "twin.last_tile", "--device", "host", "--plans",
                        "3",       "--seed",         "1",        "--db", "x.db"};
  ASSERT_EQ(redzone(folder_, night).exit, 0);
  change("UPDATE nights SET exit_code = -1");
  change("UPDATE campaigns SET ended = '', command = ?", "redzone " + kEscape);
  const Ran ran = redzone(folder_, night);
  EXPECT_NE(ran.err.find("resumes night 1"), std::string::npos) << ran;
  EXPECT_FALSE(steers(ran.out + ran.err)) << ran;
}

TEST_F(Hostile, ACommandIsStoredAsItCanBeTypedAgain) {
  ASSERT_EQ(redzone(folder_, {"nightly", "twin.last_tile", "--device", "host", "--plans", "3",
                              "--db", "my $(touch pwned) 'store'.db"})
                .exit,
            0);
  SQLite::Database sql(folder_ / "my $(touch pwned) 'store'.db", SQLite::OPEN_READONLY);
  const std::string command = sql.execAndGet("SELECT command FROM campaigns").getString();
  EXPECT_NE(command.find("--db 'my $(touch pwned) '\\''store'\\''.db'"), std::string::npos)
      << command;
}

TEST_F(Hostile, AnExportedPlanCanBeImportedWhateverItsReasonIs) {
  make_store();
  change("UPDATE findings SET reason = ?", "a" + kEscape + "\r\x01\nredzone_plan = 2");
  const Ran exported = redzone(folder_, {"export", "1", "--to", "out", "--db", "x.db"});
  ASSERT_EQ(exported.exit, 0) << exported;
  const std::string file = exported.out.substr(0, exported.out.find('\n'));
  EXPECT_FALSE(steers(read_text(folder_ / file)));
  const Ran imported = redzone(folder_, {"import", file, "--db", "y.db"});
  EXPECT_EQ(imported.exit, 0) << imported;
}

TEST_F(Hostile, ImportTakesPlansOfPackages) {
  const package::test::SamplePackage sample;
  const std::string package = sample.folder().string();
  const Arguments common{"--package", package, "--device", "dry-run", "--deadline", "60s"};
  Arguments run{"run", "puzzle.test.add.lazy_scratch_null", "--plans", "200", "--seed", "1"};
  run.insert(run.end(), common.begin(), common.end());
  ASSERT_EQ(redzone(folder_, run).exit, 1);
  const Ran exported = redzone(folder_, {"export", "1", "--to", "out"});
  ASSERT_EQ(exported.exit, 0) << exported;
  const std::string file = exported.out.substr(0, exported.out.find('\n'));
  EXPECT_EQ(redzone(folder_, {"import", file, "--db", "y.db"}).exit, 2) << "no such target";
  const Ran imported = redzone(folder_, {"import", file, "--db", "y.db", "--package", package});
  EXPECT_EQ(imported.exit, 0) << imported;
}

}  // namespace
}  // namespace redzone::e2e
