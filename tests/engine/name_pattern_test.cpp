#include "engine/name_pattern.h"

#include <gtest/gtest.h>

namespace redzone::engine {
namespace {

TEST(NamePattern, IsOneByItsWildcards) {
  for (const char* pattern : {"*", "chunk_*", "chunk_?", "chunk_[ab]"})
    EXPECT_TRUE(is_pattern(pattern)) << pattern;
  EXPECT_FALSE(is_pattern("puzzle.wide_copy"));
}

TEST(NamePattern, FitsKernelsByTheirNames) {
  EXPECT_TRUE(fits("*", "chunk_scan", Category::kernel));
  EXPECT_TRUE(fits("chunk_*", "chunk_scan", Category::kernel));
  EXPECT_TRUE(fits("*.scan", "my.scan", Category::kernel));
  EXPECT_FALSE(fits("chunk_*", "a_chunk_scan", Category::kernel));
}

TEST(NamePattern, FitsPuzzlesAndTwinsOnlyIfItAsksForThem) {
  for (const char* pattern : {"*", "p*", "*.wide", "[p]uzzle.wide"})
    EXPECT_FALSE(fits(pattern, "puzzle.wide", Category::puzzle)) << pattern;
  for (const char* pattern : {"puzzle*", "puzzle.*", "puzzle.w*", "puzzle.wid?"})
    EXPECT_TRUE(fits(pattern, "puzzle.wide", Category::puzzle)) << pattern;
  EXPECT_FALSE(fits("t*", "twin.wide", Category::twin));
  EXPECT_TRUE(fits("twin.*", "twin.wide", Category::twin));
}

TEST(NamePattern, NeverFitsASelftest) {
  EXPECT_FALSE(fits("selftest.*", "selftest.clean", Category::selftest));
}

}  // namespace
}  // namespace redzone::engine
