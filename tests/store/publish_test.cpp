// What the stores of a fleet need: copies for readers elsewhere, and what needs no reduction.
#include "store/publish.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "core/enum_names.h"
#include "store/reduced.h"
#include "store/sample.h"

namespace redzone::store {
namespace {

using namespace testing;

TEST(Publish, ReplacesTheCopyByAnotherFile) {
  const TempDir dir;
  Store store = open_rw(dir / "local.db");
  must(store.record(sample_finding(1)));
  must(publish(store, dir / "copy.db"));
  Store reader = open_ro(dir / "copy.db");
  must(store.record(sample_finding(2)));
  must(publish(store, dir / "copy.db"));
  EXPECT_EQ(must(reader.findings()).size(), 1U);
  Store later = open_ro(dir / "copy.db");
  EXPECT_EQ(must(later.findings()).size(), 2U);
  struct stat status = {};
  ASSERT_EQ(::stat((dir / "copy.db").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0644U);
}

TEST(Publish, LeavesNothingBesideTheCopyAndNothingInItsPlaceIfItFails) {
  const TempDir dir;
  std::filesystem::create_directory(dir / "out");
  Store store = open_rw(dir / "local.db");
  must(publish(store, dir / "out/copy.db"));
  std::filesystem::create_directory(dir / "out/folder");
  EXPECT_FALSE(publish(store, dir / "out/folder"));
  EXPECT_FALSE(publish(store, dir / "none/copy.db"));
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(dir / "out"))
    names.insert(entry.path().filename().string());
  EXPECT_EQ(names, (std::set<std::string>{"copy.db", "folder"}));
}

TEST(Reduced, AreThoseThatRecurWithAPlanAsSmallAsTheLimitsAllowed) {
  const TempDir dir;
  Store store = open_rw(dir / "s.db");
  std::set<std::string> expected;
  int n = 0;
  for (const auto state : {FindingState::suspect, FindingState::confirmed, FindingState::flaky,
                           FindingState::unconfirmed})
    for (const auto end : enumerators<ReductionEnd>()) {
      Finding f = sample_finding(++n);
      f.state = state;
      f.minimal = end == ReductionEnd::minimal;
      f.reduction.end = end;
      must(store.record(f));
      const bool ended = end != ReductionEnd::none && end != ReductionEnd::interrupted;
      if (ended && was_found(state)) expected.insert(f.signature.hash());
    }
  EXPECT_EQ(must(reduced_signatures(store)), expected);
}

}  // namespace
}  // namespace redzone::store
