#include "exec/oom_kills.h"

#include <gtest/gtest.h>

#include <sstream>

namespace redzone::exec {
namespace {

std::optional<std::uint64_t> in(const char* text) {
  std::istringstream file(text);
  return oom_kills_in(file);
}

TEST(OomKills, AreALineOfTheKernelsCounters) {
  EXPECT_EQ(in("nr_free_pages 7\ndrop_slab 0\noom_kill 3\nunevictable_pgs_culled 5\n"), 3u);
  EXPECT_EQ(in("nr_free_pages 7\noom_kill_disable 4\n"), std::nullopt) << "an older kernel";
  EXPECT_EQ(in(""), std::nullopt);
}

}  // namespace
}  // namespace redzone::exec
