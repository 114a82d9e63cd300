// Runs of bisections, stored by finding, plan, device and code.
#include <gtest/gtest.h>

#include "store/sample.h"
#include "store/store.h"

namespace redzone::store {
namespace {

using namespace testing;

ProbeRecord runs(const Plan& plan, std::int64_t same, std::int64_t passed, std::string said = "") {
  return {plan_hash(plan), same, 1, passed, 2, std::move(said)};
}

class Probes : public ::testing::Test {
 protected:
  Probes() : store_(open_rw(dir_ / "s.db")) {
    id_ = must(store_.record(sample_finding())).id;
    key_ = {id_, "host", "c0de"};
  }
  TempDir dir_;
  Store store_;
  std::int64_t id_ = 0;
  ProbeKey key_;
  Plan plan_ = sample_finding().plan;
};

TEST_F(Probes, AddUpAndAreThereAfterTheStoreWasClosed) {
  ASSERT_TRUE(store_.add_probe(key_, plan_, runs(plan_, 3, 4, "why")));
  ASSERT_TRUE(store_.add_probe(key_, plan_, runs(plan_, 10, 20)));
  Store again = open_rw(dir_ / "s.db");
  const auto stored = must(again.probes(key_));
  ASSERT_EQ(stored.size(), 1u);
  EXPECT_EQ(stored[0], (ProbeRecord{plan_hash(plan_), 13, 2, 24, 4, "why"}));
}

TEST_F(Probes, OfOtherCodeAreNotMixedIn) {
  ASSERT_TRUE(store_.add_probe(key_, plan_, runs(plan_, 3, 4)));
  EXPECT_TRUE(must(store_.probes({id_, "host", "0ther"})).empty());
  EXPECT_TRUE(must(store_.probes({id_, "cuda", "c0de"})).empty());
}

TEST_F(Probes, NeedAFinding) {
  const auto added = store_.add_probe({id_ + 1, "host", ""}, plan_, runs(plan_, 1, 1));
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().kind, ErrorKind::usage);
}

// Settling a finding drops plans without references; runs refer to theirs.
TEST_F(Probes, KeepTheirPlan) {
  Plan other = plan_;
  other.mode.placement = Placement::guard_before;
  ASSERT_TRUE(store_.add_probe(key_, other, runs(other, 1, 1)));
  Finding finding = must(store_.finding(id_));
  ASSERT_TRUE(store_.update(finding));
  EXPECT_EQ(must(store_.probes(key_)).size(), 1u);
}

TEST_F(Probes, GoWhereTheirFindingGoes) {
  Finding twin = sample_finding();
  twin.signature.buffer += "2";
  const auto other = must(store_.record(twin));
  ASSERT_TRUE(store_.add_probe({other.id, "host", "c0de"}, plan_, runs(plan_, 1, 1)));
  twin.id = other.id;
  twin.signature = sample_finding().signature;
  EXPECT_EQ(must(store_.settle(twin)).id, id_);
  EXPECT_EQ(must(store_.probes(key_)).size(), 1u);
}

}  // namespace
}  // namespace redzone::store
