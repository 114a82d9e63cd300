#include <gtest/gtest.h>

#include "exec/output_tail.h"

namespace redzone::exec {
namespace {

TEST(OutputTail, KeepsTheEndAndCountsTheRest) {
  OutputTail tail;
  std::string line(99, 'x');
  line += '\n';
  for (int i = 0; i < 10000; ++i) tail.append(line.data(), line.size());
  tail.append("the end\n", 8);
  EXPECT_EQ(tail.total_bytes(), 1000008u);
  const std::string all = tail.text(1 << 30);
  EXPECT_LE(all.size(), 2 * OutputTail::kKeptBytes);
  EXPECT_GE(all.size(), OutputTail::kKeptBytes - 100);
  EXPECT_EQ(tail.text(250), std::string(99, 'x') + "\n" + std::string(99, 'x') + "\nthe end");
}

TEST(OutputTail, OneHugeWriteKeepsItsEnd) {
  OutputTail tail;
  const std::string big = std::string(1 << 20, 'a') + "z";
  tail.append(big.data(), big.size());
  EXPECT_EQ(tail.text(3), "aaz");
}

TEST(OutputTail, IsPrintable) {
  OutputTail tail;
  tail.append("a\x1b[31m\xff\tb\n\n", 10);
  EXPECT_EQ(tail.text(), "a?[31m?\tb");
}

TEST(OutputTail, ForgetsOnClear) {
  OutputTail tail;
  tail.append("old", 3);
  tail.clear();
  EXPECT_EQ(tail.text(), "");
  EXPECT_EQ(tail.total_bytes(), 3u);
}

}  // namespace
}  // namespace redzone::exec
