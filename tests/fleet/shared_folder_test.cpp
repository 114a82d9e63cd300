// The shared folder as files: names, attempts, snapshots, questions, and the hub over real stores.
#include "fleet/shared_folder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <map>

#include "fleet/record_file.h"
#include "store/merge.h"
#include "store/publish.h"
#include "store/reduced.h"
#include "store/sample.h"
#include "tests/fleet/sample_fleet.h"

namespace redzone::fleet {
namespace {

using namespace store::testing;

class SharedFolderTest : public ::testing::Test {
 protected:
  SharedFolderTest() { must(create_folder(layout_, fleet_)); }

  Attempt claim(int shard) { return must(claim_attempt(layout_, shard, {.host = "n1"})); }
  // The store of an attempt, with findings `from`..`to`.
  store::Store store_of(const Attempt& attempt, int from, int to) {
    store::Store store = open_rw(dir_ / (text_of(attempt) + ".local.db").c_str());
    for (int i = from; i <= to; ++i) must(store.record(sample_finding(i)));
    return store;
  }
  using Names = std::vector<SnapshotName>;
  Names before(const Attempt& attempt) {
    return must(snapshots_before(layout_, fleet_.uid, attempt));
  }
  std::size_t findings_in(const std::filesystem::path& file) {
    store::Store store = open_ro(file);
    return must(store.findings()).size();
  }

  TempDir dir_;
  Layout layout_{dir_ / "run"};
  Fleet fleet_ = testing::sample_fleet(4);
};

TEST(FleetNames, AreReadAsTheyAreWritten) {
  EXPECT_TRUE(rc::check("every name", [] {
    const Attempt attempt{*rc::gen::inRange(0, 5000), *rc::gen::inRange(1, 2000)};
    const SnapshotName snapshot{attempt, *rc::gen::inRange(1, 1 << 30)};
    const Request request{attempt, *rc::gen::inRange(1, 1 << 30), "0123456789abcdef"};
    RC_ASSERT(parse_attempt(text_of(attempt)) == attempt);
    RC_ASSERT(parse_snapshot(text_of(snapshot)) == snapshot);
    RC_ASSERT(parse_request(text_of(request)) == request);
  }));
}

TEST(FleetNames, AreNoOthers) {
  for (const char* name :
       {"", "-", "0001", "0001-", "0001-1", "0001-1-", "0001-1-0.db", "0001-1-x.db",
        "0001-1-7.db.new-AbCdEf", ".0001-1-7.db", "0001-1-7.db-wal"})
    EXPECT_FALSE(parse_snapshot(name)) << name;
  for (const char* name :
       {"0001-1-1", "0001-1-1-", "0001-1-1-xyz", ".0001-1-1-ab.123", "0001-1-ab"})
    EXPECT_FALSE(parse_request(name)) << name;
}

TEST(FleetNames, OfAttemptsHaveAnEnd) {
  EXPECT_TRUE(parse_attempt("0001-999999"));
  for (const char* name : {"0001-1000000", "1000000-1", "0001-2147483647", "0001-9999999999"})
    EXPECT_FALSE(parse_attempt(name)) << name;
}

// A dry run creates nothing, and refuses what could not be created.
TEST_F(SharedFolderTest, WhatIsNoFolderCannotHoldOne) {
  std::ofstream(dir_ / "file") << "x";
  std::filesystem::create_symlink(dir_ / "nowhere", dir_ / "dangling");
  for (const char* root : {"file", "file/sub", "file/sub/deeper", "dangling", "dangling/sub"}) {
    const auto made = check_folder(Layout{dir_ / root});
    ASSERT_FALSE(made) << root;
    EXPECT_EQ(made.error().kind, ErrorKind::usage) << root;
  }
  EXPECT_TRUE(check_folder(Layout{dir_ / "new/folder"}));
}

TEST_F(SharedFolderTest, HoldsOneFleet) {
  EXPECT_EQ(must(read_fleet(layout_)), fleet_);
  const auto second = create_folder(layout_, fleet_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::usage);
  EXPECT_NE(second.error().message.find("holds a fleet already"), std::string::npos);
  EXPECT_EQ(must(read_fleet(layout_)), fleet_);
}

TEST_F(SharedFolderTest, TakesNothingOfAnEarlierFleetForItsOwn) {
  for (const auto& left : {layout_.stop(), layout_.known(), layout_.hub_store()}) {
    std::filesystem::remove(layout_.fleet());  // by somebody who thought that this is all
    write_bytes(left, "");
    const auto second = create_folder(layout_, fleet_);
    ASSERT_FALSE(second) << left;
    EXPECT_EQ(second.error().kind, ErrorKind::usage);
    EXPECT_NE(second.error().message.find(left.string()), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(layout_.fleet()));
    EXPECT_TRUE(std::filesystem::exists(left)) << "it is not ours";
    abandon_folder(layout_);
  }
  EXPECT_TRUE(create_folder(layout_, fleet_));
}

TEST_F(SharedFolderTest, WithoutAFleetSaysWhatToLookFor) {
  const auto none = read_fleet({dir_ / "elsewhere"});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("is the folder shared?"), std::string::npos);
}

TEST_F(SharedFolderTest, EveryAttemptHasItsOwnNumber) {
  EXPECT_EQ(claim(2), (Attempt{2, 1}));
  EXPECT_EQ(claim(2), (Attempt{2, 2}));
  EXPECT_EQ(claim(3), (Attempt{3, 1}));
  EXPECT_EQ(must(latest_attempt(layout_, 2)), (Attempt{2, 2}));
  EXPECT_EQ(must(latest_attempt(layout_, 1)), std::nullopt);
  EXPECT_EQ(must(read_attempts(layout_, fleet_.uid)).size(), 3U);
}

TEST_F(SharedFolderTest, WithoutANumberLeftNoAttemptIsClaimed) {
  write_bytes(layout_.attempt({1, kAttemptsEnd - 1}), "");
  const auto none = claim_attempt(layout_, 1, {});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("0001-999999.json: leaves no number"), std::string::npos)
      << none.error().message;
  write_bytes(layout_.attempt({2, kAttemptsEnd}), "");
  EXPECT_EQ(claim(2), (Attempt{2, 1})) << "no attempt has that number";
}

TEST_F(SharedFolderTest, AnAttemptGoesOnWithTheLatestSnapshotOfThoseBeforeIt) {
  const Attempt first = claim(1), second = claim(1);
  EXPECT_TRUE(before(second).empty());
  store::Store store = store_of(first, 1, 2);
  must(publish_snapshot(layout_, {first, 1}, store));
  must(publish_snapshot(layout_, {first, 2}, store));
  EXPECT_EQ(must(list_snapshots(layout_)), (std::vector<SnapshotName>{{first, 2}}));
  EXPECT_EQ(before(second), (Names{{first, 2}}));
  const Attempt third = claim(1);
  EXPECT_EQ(before(third), (Names{{first, 2}}));
  must(publish_snapshot(layout_, {second, 1}, store));
  EXPECT_EQ(before(third), (Names{{second, 1}, {first, 2}}));
  EXPECT_TRUE(before(first).empty());
}

TEST_F(SharedFolderTest, ASnapshotThatCannotBeWrittenLeavesTheOneBefore) {
  const Attempt first = claim(1);
  store::Store store = store_of(first, 1, 2);
  must(publish_snapshot(layout_, {first, 1}, store));
  // A folder in its way, as root writes past permissions.
  std::filesystem::create_directory(layout_.snapshot({first, 2}));
  EXPECT_FALSE(publish_snapshot(layout_, {first, 2}, store));
  EXPECT_EQ(findings_in(layout_.snapshot({first, 1})), 2U);
}

TEST_F(SharedFolderTest, AHubThatIsReplacedWhileItCopiesPublishesNothing) {
  store::Store store = store_of(claim(kHubShard), 1, 2);
  must(store::publish(store, layout_.hub_store()));
  must(store.record(sample_finding(3)));
  must(store::publish(store, layout_.hub_store(), [] { return false; }));
  EXPECT_EQ(findings_in(layout_.hub_store()), 2U);
  auto folder = must(SharedHub::open(layout_, fleet_.uid, claim(kHubShard), dir_ / "old.db"));
  must(folder->store().record(sample_finding(4)));
  claim(kHubShard);
  must(folder->publish());
  EXPECT_EQ(findings_in(layout_.hub_store()), 2U);
  for (const auto& entry : std::filesystem::directory_iterator(layout_.root))
    EXPECT_EQ(entry.path().string().find("hub.db."), std::string::npos) << "no copy is left";
}

TEST_F(SharedFolderTest, TheHubMergesBySignatureAndPublishesCopies) {
  const Attempt one = claim(1), two = claim(2), hub = claim(kHubShard);
  store::Store first = store_of(one, 1, 3), second = store_of(two, 3, 5);
  must(publish_snapshot(layout_, {one, 1}, first));
  must(publish_snapshot(layout_, {two, 1}, second));
  auto folder = must(SharedHub::open(layout_, fleet_.uid, hub, dir_ / "hub.local.db"));
  Hub machine(
      *folder, [] { return 0.0; }, 100);
  must(machine.begin());
  EXPECT_TRUE(must(machine.collect()));
  EXPECT_EQ(findings_in(layout_.hub_store()), 5U);
  // Another one goes on with what this one published.
  auto later = must(SharedHub::open(layout_, fleet_.uid, claim(kHubShard), dir_ / "hub2.local.db"));
  EXPECT_FALSE(folder->is_owner());
  EXPECT_TRUE(later->is_owner());
  EXPECT_EQ(must(later->store().findings()).size(), 5U);
}

TEST_F(SharedFolderTest, APublishedStoreSaysWhichSnapshotsItHas) {
  const Attempt one = claim(1), two = claim(2), hub = claim(kHubShard);
  store::Store first = store_of(one, 1, 3), second = store_of(two, 3, 5);
  must(publish_snapshot(layout_, {one, 1}, first));
  {
    auto folder = must(SharedHub::open(layout_, fleet_.uid, hub, dir_ / "hub.local.db"));
    must(folder->merge({one, 1}));
    must(folder->publish());
    must(publish_snapshot(layout_, {two, 1}, second));
    must(folder->merge({two, 1}));  // and it is killed
  }
  auto later = must(SharedHub::open(layout_, fleet_.uid, claim(kHubShard), dir_ / "hub2.local.db"));
  EXPECT_EQ(must(later->merged()), (std::map<Attempt, std::int64_t>{{one, 1}}));
  auto other = must(SharedHub::open(layout_, std::string(kUidDigits, 'f'), hub, dir_ / "hub3.db"));
  EXPECT_TRUE(must(other->merged()).empty()) << "of another fleet";
}

TEST_F(SharedFolderTest, WhatIsReducedIsKnownByAllItsNamesHoweverTheReductionEnded) {
  store::Store store = open_rw(dir_ / "names.db");
  const auto reduced = [&] { return must(store::reduced_signatures(store)); };
  Finding f = sample_finding(1);
  f.minimal = false;
  f.reduction = {};
  f.state = FindingState::confirmed;
  const Signature before = f.signature;
  f.id = must(store.record(f)).id;
  must(store.settle(f, true));
  EXPECT_TRUE(reduced().empty());
  f.reduction.end = ReductionEnd::interrupted;
  must(store.settle(f, true));
  EXPECT_TRUE(reduced().empty()) << "nobody has tried all that the limits allow";
  // Reduced until its time was over, under a more specific name.
  f.reduction.end = ReductionEnd::time;
  f.signature = sample_finding(2).signature;
  must(store.settle(f, true));
  const std::set<std::string> both{before.hash(), f.signature.hash()};
  EXPECT_EQ(reduced(), both);
  EXPECT_TRUE(must(published_reductions(layout_)).empty()) << "nothing is published";
  must(store::publish(store, layout_.hub_store()));
  const std::string published = bytes_of(layout_.hub_store());
  EXPECT_EQ(must(published_reductions(layout_)), both);
  EXPECT_EQ(bytes_of(layout_.hub_store()), published);
  // A merge keeps the names.
  store::Store into = open_rw(dir_ / "into.db");
  must(store::merge(store, into));
  must(store::merge(store, into));
  EXPECT_EQ(must(store::reduced_signatures(into)), both);
  // Another one that was confirmed as `before` proves to be this, too.
  Finding again = f;
  again.signature = sample_finding(3).signature;
  again.id = must(store.record(again)).id;
  must(store.settle(again, true));
  again.signature = f.signature;
  EXPECT_EQ(must(store.settle(again, true)).id, f.id);
  EXPECT_EQ(reduced().size(), 3U);
}

// A shard that was refused the reduction keeps the name under which it confirmed the finding. It
// may be another bug, so it stays a finding, with its plan.
TEST_F(SharedFolderTest, WhatAReductionRenamedElsewhereStaysAFindingOfItsOwn) {
  Finding f = sample_finding(1);
  f.minimal = false;
  f.reduction = {};
  f.state = FindingState::confirmed;
  const Signature before = f.signature;
  const auto confirmed = [&](const char* name) {
    store::Store store = open_rw(dir_ / name);
    must(store.begin_campaign(sample_campaign()));
    f.id = must(store.record(f)).id;
    must(store.settle(f, true));
    return store;
  };
  store::Store refused = confirmed("refused.db"), holder = confirmed("holder.db");
  f.reduction.end = ReductionEnd::minimal;
  f.minimal = true;
  f.signature = sample_finding(2).signature;
  must(holder.settle(f, true));
  store::Store into = open_rw(dir_ / "into.db");
  for (store::Store* from : {&holder, &refused, &holder}) must(store::merge(*from, into));
  std::map<std::string, bool> minimal;
  for (const Finding& each : must(into.findings())) minimal[each.signature.hash()] = each.minimal;
  EXPECT_EQ(minimal,
            (std::map<std::string, bool>{{before.hash(), false}, {f.signature.hash(), true}}));
  EXPECT_TRUE(must(store::reduced_signatures(into)).contains(before.hash()))
      << "it is not reduced once more in each shard";
}

TEST_F(SharedFolderTest, ADamagedSnapshotIsToldAndTheOthersAreMerged) {
  const Attempt one = claim(1), two = claim(2), hub = claim(kHubShard);
  store::Store second = store_of(two, 1, 2);
  write_bytes(layout_.snapshot({one, 1}), "no store at all, but longer than a header of SQLite's");
  must(publish_snapshot(layout_, {two, 1}, second));
  auto folder = must(SharedHub::open(layout_, fleet_.uid, hub, dir_ / "hub.local.db"));
  Hub machine(
      *folder, [] { return 0.0; }, 100);
  must(machine.begin());
  must(machine.collect());
  EXPECT_EQ(findings_in(layout_.hub_store()), 2U);
  ASSERT_EQ(machine.figures().refused.size(), 1U);
  EXPECT_NE(machine.figures().refused.at(one).find("0001-1-1.db"), std::string::npos);
}

TEST_F(SharedFolderTest, QuestionsAndAnswersAreFiles) {
  const Attempt one = claim(1), hub = claim(kHubShard);
  auto folder = must(SharedHub::open(layout_, fleet_.uid, hub, dir_ / "hub.local.db"));
  Hub machine(
      *folder, [] { return 0.0; }, 100);
  must(machine.begin());
  SharedInquiries inquiries(layout_, one);
  EXPECT_TRUE(inquiries.ask(1, "0123456789abcdef"));
  EXPECT_EQ(inquiries.take_answer(1, "0123456789abcdef"), std::nullopt);
  must(machine.answer());
  EXPECT_EQ(inquiries.take_answer(1, "0123456789abcdef"), Answer::granted);
  EXPECT_EQ(inquiries.take_answer(1, "0123456789abcdef"), std::nullopt) << "it was taken";
  EXPECT_TRUE(must(folder->requests()).empty());
  EXPECT_EQ(must(folder->leases()), (std::vector<Lease>{{"0123456789abcdef", 1}}));
}

TEST_F(SharedFolderTest, RefusesAClockThatIsWrong) {
  const Layout other{dir_ / "other"};
  must(create_folder(other, fleet_));
  EXPECT_TRUE(check_clock(other.fleet()));
  // What the folder's server says of a file, against this machine's clock.
  for (const auto& [seconds, says] :
       {std::pair{std::time_t{1000}, "ahead of"}, {std::time(nullptr) + 4000, "behind"}}) {
    const struct timespec time[2] = {{seconds, 0}, {seconds, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, other.fleet().c_str(), time, 0), 0);
    const auto checked = check_clock(other.fleet());
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().kind, ErrorKind::usage);
    EXPECT_NE(checked.error().message.find(says), std::string::npos) << checked.error().message;
  }
}

}  // namespace
}  // namespace redzone::fleet
