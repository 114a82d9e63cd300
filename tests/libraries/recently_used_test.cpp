#include "common/recently_used.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace redzone::libraries {
namespace {

TEST(RecentlyUsed, DropsWhatWasUsedLongestAgo) {
  std::vector<int> destroyed;
  RecentlyUsed<std::string, int> values(2, [&](int value) { destroyed.push_back(value); });
  EXPECT_EQ(values.find("a"), nullptr);
  values.add("a", 1);
  values.add("b", 2);
  EXPECT_EQ(*values.find("a"), 1);  // used after b
  values.add("c", 3);
  EXPECT_EQ(destroyed, std::vector<int>{2});
  EXPECT_EQ(values.find("b"), nullptr);
  ASSERT_NE(values.find("a"), nullptr);
  ASSERT_NE(values.find("c"), nullptr);
}

// Work of the trial in hand may be queued with each value that it has used.
TEST(RecentlyUsed, KeepsTheLastOnesThatWereUsed) {
  constexpr int kMost = 8;
  int newest = 0;
  RecentlyUsed<int, int> values(kMost, [&](int value) { EXPECT_LE(value, newest - kMost); });
  for (newest = 0; newest < 100; ++newest) {
    values.add(newest, newest);
    for (int back = std::min(newest, kMost - 1); back >= 0; --back)
      ASSERT_NE(values.find(newest - back), nullptr) << newest << " " << back;
  }
}

}  // namespace
}  // namespace redzone::libraries
