// One expression, evaluated by many threads. scripts/sanitize checks it for data races.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "described/expression.h"

namespace redzone::described {
namespace {

TEST(ExpressionThreads, EachReadsItsOwnValues) {
  const std::vector<std::string> names{"M", "N"};
  const auto expression = Expression::parse("M * N + max(M, N)", names);
  ASSERT_TRUE(expression) << expression.error();
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> threads;
  for (std::int64_t m = 1; m <= 4; ++m)
    threads.emplace_back([&wrong, m, copy = *expression] {
      for (std::int64_t n = 0; n < 1000; ++n) {
        const auto value = copy.value({{"M", m}, {"N", n}});
        if (!value || *value != m * n + std::max(m, n)) ++wrong;
      }
    });
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace redzone::described
