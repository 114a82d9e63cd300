// What the stack of the host holds when a target is called.
#include "trial/bench.h"

namespace redzone::testing {
namespace {

constexpr std::uint32_t kFill = 0x7fa5a5a5, kFinite = 0x3f5a5a5a;

// How many of the 256 words of a local array that nothing has written are this one. Most, where the
// stack was filled: AddressSanitizer writes some of them on the way.
[[gnu::noinline]] std::ptrdiff_t count_left(std::uint32_t word) {
  std::uint32_t words[256];
  asm volatile("" : "=m"(words));  // for the compiler they are written
  return std::count(std::begin(words), std::end(words), word);
}

// Overwrites what count_left() will find.
[[gnu::noinline]] void use_stack() {
  std::uint32_t words[512];
  for (std::uint32_t i = 0; i < 512; ++i) words[i] = i;
  asm volatile("" : : "r"(words) : "memory");
}

class StackOfTheHost : public ::testing::Test {
 protected:
  // Of each run of the calls, how many words on its stack are `word`.
  std::vector<std::ptrdiff_t> seen(std::uint32_t word, const Mode& mode) {
    word_ = word;
    seen_.clear();
    bench_.run(plan_of({CallStep{call_of(3, 5), 3, 0}, CallStep{call_of(3, 5), 1, 0}}),
               {.mode = mode});
    return seen_;
  }

  bool uses_stack_ = true;

 private:
  std::uint32_t word_ = 0;
  std::vector<std::ptrdiff_t> seen_;
  Bench bench_{[this](Context& ctx) {
    seen_.push_back(count_left(word_));
    run_double(ctx);
    if (uses_stack_) use_stack();
  }};
};

// Whether so many runs saw the fill, and all of them.
bool all_filled(const std::vector<std::ptrdiff_t>& counts, std::size_t runs) {
  return counts.size() == runs &&
         std::all_of(counts.begin(), counts.end(), [](auto count) { return count > 128; });
}

TEST_F(StackOfTheHost, IsFilledBeforeEachRunOfACall) {
  for (const auto callers : {Callers::one, Callers::each}) {
    EXPECT_TRUE(all_filled(seen(kFill, {.callers = callers, .stack = Stack::filled}), 4));
    EXPECT_TRUE(all_filled(seen(kFinite, {.callers = callers, .stack = Stack::filled_finite}), 4));
  }
}

// What a fill leaves would be what a later trial finds.
TEST_F(StackOfTheHost, HoldsNoFillOfAnEarlierTrial) {
  uses_stack_ = false;
  EXPECT_TRUE(all_filled(seen(kFill, {.stack = Stack::filled}), 4));
  EXPECT_EQ(seen(kFill, {}), std::vector<std::ptrdiff_t>(4, 0));
}

}  // namespace
}  // namespace redzone::testing
