// What the stack of the host holds when a target is called.
#include "trial/bench.h"

namespace redzone::testing {
namespace {

// The words of a local array that nothing has written, if they are all equal; 0 otherwise.
[[gnu::noinline]] std::uint32_t word_left() {
  std::uint32_t words[256];
  asm volatile("" : "=m"(words));  // for the compiler they are written
  const std::uint32_t first = words[0];
  for (const auto& word : words)
    if (word != first) return 0;
  return first;
}

// Overwrites what word_left() will find.
[[gnu::noinline]] void use_stack() {
  std::uint32_t words[512];
  for (std::uint32_t i = 0; i < 512; ++i) words[i] = i;
  asm volatile("" : : "r"(words) : "memory");
}

std::vector<std::uint32_t> seen(const std::vector<Step>& steps, const Mode& mode) {
  std::vector<std::uint32_t> words;
  Bench bench([&](Context& ctx) {
    words.push_back(word_left());
    run_double(ctx);
    use_stack();
  });
  bench.run(plan_of(steps), {.mode = mode});
  return words;
}

TEST(StackOfTheHost, IsFilledBeforeEachCall) {
  const std::vector<Step> steps{CallStep{call_of(3, 5), 3, 0}, CallStep{call_of(3, 5), 1, 0}};
  for (const auto callers : {Callers::one, Callers::each}) {
    using Words = std::vector<std::uint32_t>;
    EXPECT_EQ(seen(steps, {.callers = callers, .stack = Stack::filled}), Words(4, 0x7fa5a5a5));
    EXPECT_EQ(seen(steps, {.callers = callers, .stack = Stack::filled_finite}),
              Words(4, 0x3f5a5a5a));
    for (const auto word : seen(steps, {.callers = callers})) {
      EXPECT_NE(word, 0x7fa5a5a5u);
      EXPECT_NE(word, 0x3f5a5a5au);
    }
  }
}

}  // namespace
}  // namespace redzone::testing
