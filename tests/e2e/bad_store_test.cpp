// Files that are not stores, given to every command that opens one: all commands report the same
// line and exit code for the same file and leave it unchanged.
#include <gtest/gtest.h>

#include <algorithm>

#include "e2e/cli.h"

namespace redzone::e2e {
namespace {

constexpr const char* kFaultingPlan = R"(redzone_plan = 1
target = "puzzle.last_tile"

[expect]
oracle = "fault"
kind = "illegal-access"

[[step]]
do = "call"
dims = { N = 1 }
)";

// "@" is replaced by the file.
struct Opens {
  const char* name;
  Arguments arguments;
};

void PrintTo(const Opens& opens, std::ostream* out) {
  *out << opens.name;
}

const std::vector<Opens> kCommands{
    {"run", {"run", "twin.last_tile", "--device", "host", "--plans", "1", "--db", "@"}},
    {"nightly", {"nightly", "twin.last_tile", "--device", "host", "--plans", "1", "--db", "@"}},
    {"findings", {"findings", "--db", "@"}},
    {"show", {"show", "1", "--db", "@"}},
    {"replay", {"replay", "1", "--device", "host", "--db", "@"}},
    {"replay_of_a_plan", {"replay", "plan.toml", "--device", "host", "--db", "@"}},
    {"reduce", {"reduce", "1", "--device", "host", "--db", "@"}},
    {"bisect", {"bisect", "1", "--device", "host", "--db", "@"}},
    {"bisect_of_builds", {"bisect", "1", "--builds", "a.so", "b.so", "--db", "@"}},
    {"export_to", {"export", "1", "--to", "out", "--db", "@"}},
    {"import", {"import", "plan.toml", "--db", "@"}},
    {"merge_from", {"merge", "@", "--into", "new.db"}},
    {"merge_into", {"merge", "good.db", "--into", "@"}},
    {"mark", {"mark", "1", "known", "--link", "https://example.com/1", "--db", "@"}},
    {"report", {"report", "--db", "@"}},
    {"stats", {"db", "stats", "--db", "@"}},
    {"prune", {"db", "prune", "--keep-days", "1", "--db", "@"}},
    {"copy_onto", {"db", "copy", "--db", "good.db", "--to", "@"}},
};

class BadStore : public testing::TestWithParam<Opens> {
 protected:
  void SetUp() override {
    folder_.write("plan.toml", kFaultingPlan);
    const Ran made = redzone(folder_, {"import", "plan.toml", "--db", "good.db"});
    ASSERT_EQ(made.exit, 0) << made;
    good_ = read_text(folder_ / "good.db");
    ASSERT_GT(good_.size(), 8192u);
  }
  Ran run(const std::string& file) {
    Arguments arguments = GetParam().arguments;
    std::replace(arguments.begin(), arguments.end(), std::string("@"), file);
    return redzone(folder_, arguments);
  }
  void expect(const std::string& file, int exit, const std::string& says) {
    const Ran ran = run(file);
    EXPECT_EQ(ran.exit, exit) << file << "\n" << ran;
    EXPECT_EQ(ran.out, "") << file;
    EXPECT_EQ(ran.err.rfind("redzone: " + file + " " + says, 0), 0u) << file << "\n" << ran;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "new.db"));
  }
  void expect_of_file(const std::string& contents, int exit, const std::string& says) {
    folder_.write("bad.db", contents);
    expect("bad.db", exit, says);
    EXPECT_EQ(read_text(folder_ / "bad.db"), contents);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "bad.db-wal"));
  }

  const TempFolder folder_;
  std::string good_;
};

TEST_P(BadStore, IsToldOfInTheSameWords) {
  std::filesystem::create_directory(folder_.path() / "folder");
  expect("folder", 2, "is a folder: name a file in it");
  for (const std::size_t size : {1u, 300u, 5000u, 8192u})
    expect_of_file(std::string(size, 'x'), 2, "is not a Redzone store (not an SQLite database)");
  // https://sqlite.org/fileformat.html, 1.3: from 60 on the user version, from 68 on the program.
  std::string newer = good_, other = good_;
  newer[62] = 3;
  other[68] = 'x';
  expect_of_file(newer, 2, "has schema version");
  expect_of_file(other, 2, "is a SQLite database of another program");
  for (const std::size_t size : {good_.size() - 1, good_.size() / 2, std::size_t{700}})
    expect_of_file(good_.substr(0, size), 5, "is corrupt (");
}

INSTANTIATE_TEST_SUITE_P(Command, BadStore, testing::ValuesIn(kCommands),
                         [](const auto& info) { return std::string(info.param.name); });

// The exit codes distinguish an unsound store from one that cannot be read; nightly jobs rely on
// this.
TEST(UnsoundStore, IsToldByItsOwnExitCode) {
  const TempFolder folder;
  folder.write("plan.toml", kFaultingPlan);
  ASSERT_EQ(redzone(folder, {"import", "plan.toml", "--db", "good.db"}).exit, 0);
  const std::string good = read_text(folder / "good.db");
  const auto expect = [&](int exit, const std::string& says) {
    const Ran check = redzone(folder, {"db", "check", "--db", "bad.db", "--json"});
    EXPECT_EQ(check.exit, exit) << says << check;
    const Ran copy = redzone(folder, {"db", "copy", "--db", "bad.db", "--to", "new.db"});
    EXPECT_EQ(copy.exit, exit) << says << copy;
    EXPECT_FALSE(std::filesystem::exists(folder / "new.db"));
    if (exit == 5) {
      EXPECT_EQ(check.json()["sound"], false) << check;
      EXPECT_NE(check.out.find(says), std::string::npos) << check;
      EXPECT_NE(copy.out.find("wrong: "), std::string::npos) << copy;
      EXPECT_EQ(check.err + copy.err, "");
    } else {
      EXPECT_EQ(check.out + copy.out, "");
      EXPECT_NE(check.err.find(says), std::string::npos) << check;
    }
  };
  std::string zeroed = good, other = good, newer = good;
  std::fill_n(zeroed.begin(), 4096, '\0');
  other[68] = 'x';
  newer[62] = 3;
  for (const auto& [contents, says] : {std::pair{zeroed, "is not a Redzone store"},
                                       {good.substr(0, 60), "is not a Redzone store"},
                                       {other, "of another program"},
                                       {good.substr(0, good.size() / 2), "is corrupt ("}}) {
    folder.write("bad.db", contents);
    expect(5, says);
  }
  folder.write("bad.db", newer);
  expect(2, "has schema version");
  std::filesystem::remove(folder / "bad.db");
  expect(2, "does not exist");
  EXPECT_EQ(redzone(folder, {"db", "copy", "--db", "good.db"}).exit, 2);
  EXPECT_EQ(redzone(folder, {"db", "check", "--db", "good.db"}).out, "sound\n");
  const Ran copied = redzone(folder, {"db", "copy", "--db", "good.db", "--to", "new.db", "--json"});
  EXPECT_EQ(copied.exit, 0) << copied;
  EXPECT_EQ(copied.json()["copied"], "new.db") << copied;
}

// An empty file is an empty store: a campaign that was killed while creating its store leaves one.
TEST(EmptyStore, IsAStoreWithNothingInIt) {
  const TempFolder folder;
  folder.write("empty.db", "");
  struct Case {
    Arguments arguments;
    int exit;
    std::string says;  // on stderr
  };
  for (const Case& c : {Case{{"findings"}, 0, ""},
                        {{"db", "check"}, 0, ""},
                        {{"db", "stats"}, 0, ""},
                        {{"report"}, 2, "the store holds no night"},
                        {{"report", "--night", "7"}, 2, "the store holds no night"},
                        {{"report", "--night", "abc"}, 2, "--night: 'abc' is not a night number"},
                        {{"report", "--night", "0"}, 2, "--night: '0' is not a night number"},
                        {{"show", "1"}, 2, "no finding 1"},
                        {{"mark", "1", "new"}, 2, "no finding 1"},
                        {{"export", "1", "--to", "out"}, 2, "no finding 1"}}) {
    Arguments arguments = c.arguments;
    arguments.insert(arguments.end(), {"--db", "empty.db"});
    const Ran ran = redzone(folder, arguments);
    EXPECT_EQ(ran.exit, c.exit) << ran;
    EXPECT_NE(ran.err.find(c.says), std::string::npos) << ran;
    EXPECT_EQ(read_text(folder / "empty.db"), "");
  }
}

// A failure with another signature than the plan expects is stored as a finding. If it cannot be
// stored, the replay still reports what it observed, and ends with that.
TEST(UnwritableStore, AReplayEndsWithWhatItSaw) {
  const TempFolder folder;
  std::string plan = kFaultingPlan;
  const std::string kind = "illegal-access";
  plan.replace(plan.find(kind), kind.size(), "hang");
  folder.write("plan.toml", plan);
  const auto replay = [&](const char* db) {
    return redzone(folder, {"replay", "plan.toml", "--device", "host", "--runs", "1", "--db", db});
  };
  const Ran lost = replay("no/such.db");
  EXPECT_EQ(lost.exit, 1) << lost;
  EXPECT_NE(lost.out.find(kind), std::string::npos) << lost;
  EXPECT_NE(lost.err.find("no/such.db"), std::string::npos) << lost;
  const Ran stored = replay("x.db");
  EXPECT_EQ(stored.exit, 1) << stored;
  EXPECT_NE(stored.out.find("stored as finding 1"), std::string::npos) << stored;
}

}  // namespace
}  // namespace redzone::e2e
