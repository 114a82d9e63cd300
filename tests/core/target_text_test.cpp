#include "core/target_text.h"

#include <gtest/gtest.h>

namespace redzone {
namespace {

TEST(TargetText, IsKeptUpToItsLimit) {
  EXPECT_EQ(target_text("no\nroom for \u00e4"), "no\nroom for \u00e4");
  const std::string most(kMostTargetTextBytes, 'x');
  EXPECT_EQ(target_text(most), most);
  EXPECT_EQ(target_text(most + "y"), most + " [cut]");
}

TEST(TargetText, IsCutBetweenCharacters) {
  EXPECT_EQ(target_text("ab\u00e4\u00e4", 4), "ab\u00e4 [cut]");
  EXPECT_EQ(target_text("ab\u00e4\u00e4", 5), "ab\u00e4 [cut]");
  EXPECT_EQ(target_text("a\U0001f600b", 4), "a [cut]");
  EXPECT_EQ(target_text("a\U0001f600b", 5), "a\U0001f600 [cut]");
}

TEST(TargetText, IsWellFormedWhateverItsBytes) {
  EXPECT_EQ(target_text("a\x80"), "a\xef\xbf\xbd");
  EXPECT_EQ(target_text(std::string(7, '\x80'), 7), "\xef\xbf\xbd\xef\xbf\xbd [cut]");
  EXPECT_EQ(target_text(std::string(100, '\x80'), 7), "\xef\xbf\xbd\xef\xbf\xbd [cut]");
}

TEST(TargetText, MayBeOneLine) {
  EXPECT_EQ(target_line("first\nsecond \x1b[31m"), "first\\nsecond \\x1b[31m");
}

}  // namespace
}  // namespace redzone
