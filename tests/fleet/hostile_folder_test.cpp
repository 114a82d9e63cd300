// What whoever can write to the shared folder may leave in it: nothing of it is an error of the
// whole fleet that could be one of a file, and nothing that was published is lost.
#include <gtest/gtest.h>

#include <string>

#include "fleet/hub_job.h"
#include "fleet/record_file.h"
#include "fleet/shard_job.h"
#include "fleet/shared_folder.h"
#include "store/database.h"
#include "store/sample.h"
#include "tests/fleet/sample_fleet.h"

namespace redzone::fleet {
namespace {

using namespace store::testing;

class HostileFolder : public ::testing::Test {
 protected:
  HostileFolder() { must(create_folder(layout_, fleet_)); }

  // What reading it says.
  template <class T>
  static std::string error_of(std::string_view text) {
    const auto read = parse_record<T>(text, "f.json");
    if (read) return "";
    EXPECT_EQ(read.error().kind, ErrorKind::usage);
    return read.error().message;
  }
  static std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from << " is not in " << text;
    return text.replace(at, from.size(), to);
  }
  // Publishes findings `from`..`to` as the first snapshot of a new attempt of the shard.
  Attempt published(int shard, int from, int to) {
    const Attempt attempt = must(claim_attempt(layout_, shard, {.host = "n1"}));
    store::Store store = open_rw(dir_ / (text_of(attempt) + ".local.db").c_str());
    for (int i = from; i <= to; ++i) must(store.record(sample_finding(i)));
    must(publish_snapshot(layout_, {attempt, 1}, store));
    return attempt;
  }
  // As a later version of Redzone leaves it.
  void make_newer(const std::filesystem::path& file) {
    SQLite::Database sql(file.string(), SQLite::OPEN_READWRITE);
    sql.exec("PRAGMA user_version = 1000");
  }
  Result<void> finish() {
    return run_hub({.layout = layout_,
                    .uid = fleet_.uid,
                    .local = dir_ / "local",
                    .host = "n2",
                    .interrupted = [] { return false; },
                    .finish = true});
  }
  HubStatus hub_status() { return must(read_record<HubStatus>(layout_.hub_status())); }
  std::size_t merged() {
    store::Store store = open_ro(layout_.hub_store());
    return must(store.findings()).size();
  }

  TempDir dir_;
  Layout layout_{dir_ / "run"};
  Fleet fleet_ = testing::sample_fleet(2);
};

TEST_F(HostileFolder, AFileOfTheFleetSaysWhatIsWrongAndWhere) {
  const std::string sound = print_record(fleet_);
  EXPECT_EQ(error_of<Fleet>(sound), "");
  EXPECT_EQ(error_of<Fleet>(""), "f.json: no JSON: it ends too early");
  EXPECT_EQ(error_of<Fleet>(sound.substr(0, sound.size() / 2)),
            "f.json: no JSON: it ends too early");
  EXPECT_EQ(error_of<Fleet>("{\n  \"uid\": x"),
            "f.json: no JSON: line 2, column 10 cannot be read");
  EXPECT_EQ(error_of<Fleet>("[]"), "f.json: no JSON object");
  EXPECT_EQ(error_of<Fleet>("{}"), "f.json: uid: missing");
  EXPECT_EQ(error_of<Fleet>(replaced(sound, "\"shards\": 2", "\"shards\": \"2\"")),
            "f.json: shards: an integer is expected, not a string");
  EXPECT_EQ(error_of<Fleet>(replaced(sound, "\"shards\": 2", "\"shards\": 2000000")),
            "f.json: shards: 2000000 is not in 1..4096");
  EXPECT_EQ(error_of<Fleet>(replaced(sound, "\"shards\": 2", "\"shards\": 20000000000")),
            "f.json: shards: 20000000000 is not in -2147483648..2147483647");
  EXPECT_EQ(error_of<Fleet>(replaced(sound, "\"seed\": 0", "\"seed\": -1")),
            "f.json: seed: -1 is negative");
  EXPECT_EQ(
      error_of<Fleet>(replaced(sound, "\"lease_seconds\": 600.0", "\"lease_seconds\": 1e999")),
      "f.json: no JSON: a number does not fit");
  EXPECT_EQ(error_of<Fleet>(replaced(sound, "\"--all\"", "\"--all\\u001b[2J\"")),
            "f.json: nightly: has the control character 0x1b");
  EXPECT_EQ(error_of<Fleet>(replaced(sound, fleet_.uid, "../../x")),
            "f.json: uid: 32 hexadecimal digits are expected");
  EXPECT_EQ(error_of<Fleet>(replaced(sound, "\"created\"", "\"creatde\"")),
            "f.json: created: missing");
  EXPECT_EQ(
      error_of<Jobs>(R"({"shards": ["--all"], "examinations": [], "hub": "2", "report": "3"})"),
      "f.json: '--all' is no job number");
  EXPECT_EQ(error_of<LeaseBook>(R"({"leases": [{"signature": "a", "shard": []}]})"),
            "f.json: leases[0].shard: an integer is expected, not a list");
}

TEST_F(HostileFolder, AFleetThatCouldNotBeReadAgainIsNotBegun) {
  const Layout other{dir_ / "other"};
  fleet_.nightly = {"two\nlines"};
  const auto made = create_folder(other, fleet_);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("nightly: has the control character 0x0a"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(other.fleet()));
}

TEST_F(HostileFolder, AJobOfAnotherFleetDoesNothing) {
  const std::string other(kUidDigits, 'f');
  const auto shard = run_shard({.layout = layout_,
                                .uid = other,
                                .local = dir_ / "local",
                                .redzone = "/bin/false",
                                .host = "n1",
                                .job = "7",
                                .interrupted = [] { return false; }});
  ASSERT_FALSE(shard);
  EXPECT_EQ(shard.error().kind, ErrorKind::usage);
  EXPECT_NE(shard.error().message.find("do all nodes share the folder?"), std::string::npos);
  EXPECT_TRUE(must(read_attempts(layout_, fleet_.uid)).empty());
}

TEST_F(HostileFolder, AnAttemptWhoseStatusIsDamagedIsToldAndHoldsUpNoOther) {
  const Attempt one = published(1, 1, 3);
  published(2, 4, 5);
  write_bytes(layout_.attempt(one), "{\"host\": 7");
  write_bytes(layout_.attempts() / "0001-2147483647.json", "{}");  // the next number is none
  write_bytes(layout_.attempts() / "x-1.json", "{}");
  const auto attempts = must(read_attempts(layout_, fleet_.uid));
  ASSERT_EQ(attempts.size(), 2U);
  EXPECT_NE(attempts.at(one).problem.find("0001-1.json: no JSON: it ends too early"),
            std::string::npos);
  EXPECT_EQ(must(claim_attempt(layout_, 1, {})), (Attempt{1, 2}));
  must(finish());
  EXPECT_EQ(merged(), 5U);
}

TEST_F(HostileFolder, LeasesThatAreDamagedAreToldAndDoNotStopTheHub) {
  published(1, 1, 3);
  write_bytes(layout_.leases(), R"({"leases": [{"signature": )");
  must(finish());
  EXPECT_EQ(merged(), 3U);
  ASSERT_EQ(hub_status().problems.size(), 1U);
  EXPECT_NE(hub_status().problems[0].find("leases.json: no JSON"), std::string::npos);
}

TEST_F(HostileFolder, ADamagedHubsStoreIsMadeAgainOfTheSnapshots) {
  published(1, 1, 3);
  must(finish());
  const std::string whole = bytes_of(layout_.hub_store());
  for (const auto& damaged : {whole.substr(0, whole.size() / 2), std::string("none at all")}) {
    write_bytes(layout_.hub_store(), damaged);
    must(finish());
    EXPECT_EQ(merged(), 3U);
    ASSERT_EQ(hub_status().problems.size(), 1U);
    EXPECT_NE(hub_status().problems[0].find("hub.db"), std::string::npos);
    EXPECT_EQ(bytes_of(layout_.unread_hub_store()), damaged);
  }
}

TEST_F(HostileFolder, AHubsStoreOfANewerVersionIsKept) {
  published(1, 1, 3);
  must(finish());
  make_newer(layout_.hub_store());
  const std::string before = bytes_of(layout_.hub_store());
  must(finish());
  EXPECT_EQ(bytes_of(layout_.unread_hub_store()), before);
  EXPECT_EQ(merged(), 3U);
  ASSERT_EQ(hub_status().problems.size(), 1U);
  EXPECT_NE(hub_status().problems[0].find("use a newer redzone"), std::string::npos);
}

TEST_F(HostileFolder, ASnapshotOfANewerVersionIsToldAndTheOthersAreMerged) {
  const Attempt one = published(1, 1, 3);
  published(2, 4, 5);
  make_newer(layout_.snapshot({one, 1}));
  must(finish());
  EXPECT_EQ(merged(), 2U);
  ASSERT_EQ(hub_status().problems.size(), 1U);
  EXPECT_NE(hub_status().problems[0].find("use a newer redzone"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(layout_.snapshot({one, 1}))) << "for whoever can read it";
}

TEST_F(HostileFolder, ATruncatedSnapshotIsToldAndTheOthersAreMerged) {
  const Attempt one = published(1, 1, 3);
  published(2, 4, 5);
  const std::string whole = bytes_of(layout_.snapshot({one, 1}));
  write_bytes(layout_.snapshot({one, 1}), whole.substr(0, whole.size() / 2));
  must(finish());
  EXPECT_EQ(merged(), 2U);
  EXPECT_EQ(hub_status().problems.size(), 1U);
}

TEST_F(HostileFolder, AnAnswerThatIsNoneIsTakenAway) {
  const Attempt one = must(claim_attempt(layout_, 1, {}));
  SharedInquiries inquiries(layout_, one);
  write_bytes(layout_.answers() / "0001-1-1-ab", std::string(1 << 20, 'x'));
  EXPECT_EQ(inquiries.take_answer(1, "ab"), std::nullopt);
  EXPECT_FALSE(std::filesystem::exists(layout_.answers() / "0001-1-1-ab"));
}

}  // namespace
}  // namespace redzone::fleet
