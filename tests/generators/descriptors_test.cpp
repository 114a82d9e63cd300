// The generator of TMA descriptors, and their simplification.
#include "generators/descriptors.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

#include "generators/descriptor_simplify.h"

namespace redzone::generators {
namespace {

using tma::Answer;
using tma::Descriptor;
using tma::Rule;

constexpr int kDescriptors = 40000;
// The newest GPUs, which support packed types and all swizzles.
constexpr int kNewest = 100;

std::set<Rule> forbidden(const Descriptor& d) {
  std::set<Rule> out;
  for (const auto& v : tma::check(d, kNewest))
    if (tma::driver_says(v.rule) == tma::Says::forbids) out.insert(v.rule);
  return out;
}

template <class Visit>
void for_each_descriptor(Visit visit) {
  DescriptorGenerator generator(7);
  for (int i = 0; i < kDescriptors; ++i) visit(generator.next());
}

TEST(Descriptors, TheSameSeedGivesTheSame) {
  DescriptorGenerator a(3), b(3), c(4);
  int different = 0;
  for (int i = 0; i < 200; ++i) {
    const auto from_a = a.next();
    EXPECT_EQ(from_a.descriptor, b.next().descriptor);
    different += !(from_a.descriptor == c.next().descriptor);
  }
  EXPECT_GT(different, 150);
}

TEST(Descriptors, LegalOnesAreLegalAndHalfOfAll) {
  int legal = 0, accepted = 0;
  for_each_descriptor([&](const DrawnDescriptor& drawn) {
    if (!drawn.broken.empty()) return;
    ++legal;
    const auto answer = answer_of_driver(check(drawn.descriptor, kNewest));
    ASSERT_EQ(answer, Answer::accepts) << text_of(drawn.descriptor);
    accepted += answer_of_driver(check(drawn.descriptor, 90)) == Answer::accepts;
  });
  EXPECT_NEAR(static_cast<double>(legal) / kDescriptors, 0.5, 0.03);
  // On a Hopper GPU, where the rules leave packed types and some swizzles open.
  EXPECT_GT(static_cast<double>(accepted) / kDescriptors, 0.4);
}

TEST(Descriptors, ABrokenRuleIsBrokenAlone) {
  std::map<Rule, int> alone;
  for_each_descriptor([&](const DrawnDescriptor& drawn) {
    if (drawn.broken.size() != 1) return;
    const Rule rule = drawn.broken[0];
    ++alone[rule];
    ASSERT_TRUE(check(drawn.descriptor, kNewest).breaks(rule))
        << name_of(rule) << ": " << text_of(drawn.descriptor);
    auto rules = forbidden(drawn.descriptor);
    rules.erase(rule);
    ASSERT_TRUE(rules.empty()) << name_of(rule) << " and " << name_of(*rules.begin()) << ": "
                               << text_of(drawn.descriptor);
  });
  for (const Rule rule : enumerators<Rule>()) {
    // Legal descriptors often break these two.
    if (rule == Rule::stride_order || rule == Rule::newer_gpu) continue;
    EXPECT_GE(alone[rule], 20) << name_of(rule);
  }
}

TEST(Descriptors, EveryRuleIsBrokenAndPairsAre) {
  std::map<Rule, int> broken;
  std::set<std::pair<Rule, Rule>> pairs;
  for_each_descriptor([&](const DrawnDescriptor& drawn) {
    EXPECT_LE(drawn.descriptor.rank, 8u);
    std::set<Rule> rules;
    for (const auto& v : check(drawn.descriptor, 90)) rules.insert(v.rule);
    for (const Rule rule : rules) ++broken[rule];
    if (drawn.broken.size() == 2 && rules.contains(drawn.broken[0]) &&
        rules.contains(drawn.broken[1]))
      pairs.insert(std::minmax(drawn.broken[0], drawn.broken[1]));
  });
  for (const Rule rule : enumerators<Rule>()) EXPECT_GE(broken[rule], 20) << name_of(rule);
  EXPECT_GE(pairs.size(), 150u);
}

TEST(Descriptors, EveryModeOccursLegally) {
  std::map<std::string, int> seen;
  for_each_descriptor([&](const DrawnDescriptor& drawn) {
    if (!drawn.broken.empty()) return;
    const Descriptor& d = drawn.descriptor;
    const std::string kind = d.kind == tma::Kind::tiled ? "tiled " : "im2col ";
    ++seen[kind + "type " + tma::name_or_number(d.type)];
    ++seen[kind + "swizzle " + tma::name_or_number(d.swizzle)];
    ++seen[kind + "interleave " + tma::name_or_number(d.interleave)];
    ++seen[kind + "promotion " + tma::name_or_number(d.promotion)];
    ++seen[kind + "fill " + tma::name_or_number(d.fill)];
    ++seen[kind + "rank " + std::to_string(d.rank)];
    for (std::uint32_t i = 1; i < d.rank; ++i) {
      seen["stride 0"] += d.strides[i - 1] == 0;
      seen["largest stride"] += d.strides[i - 1] >= (std::uint64_t{1} << 40) - 32;
      seen["unused stride"] += d.dims[i] == 1;
      seen["largest dim"] += d.dims[i] == std::uint64_t{1} << 32;
      seen["box 256"] += d.box[i] == 256;
    }
  });
  // 16 types, 7 swizzles, 3 interleaves, 4 promotions, 2 fills, and 5 or 3 ranks; and the five
  // inserted above.
  EXPECT_EQ(seen.size(), 2 * (16 + 7 + 3 + 4 + 2) + 5 + 3 + 5u);
  for (const auto& [what, count] : seen) EXPECT_GE(count, 10) << what;
}

TEST(SmallestDescriptor, OfEachBrokenRuleIsTiny) {
  DescriptorGenerator generator(11);
  std::map<Rule, int> tried;
  for (int i = 0; i < 4000; ++i) {
    const auto drawn = generator.next();
    if (drawn.broken.size() != 1 || ++tried[drawn.broken[0]] > 5) continue;
    const Rule rule = drawn.broken[0];
    const auto breaks = [&](const Descriptor& d) { return check(d, kNewest).breaks(rule); };
    const Descriptor smallest = smallest_descriptor(drawn.descriptor, breaks);
    EXPECT_TRUE(breaks(smallest));
    EXPECT_FALSE(simpler(drawn.descriptor, smallest)) << text_of(smallest);
    const std::map<Rule, std::uint32_t> ranks{
        {Rule::address_alignment, 0u}, {Rule::stride_alignment, 2u}, {Rule::dim_range, 1u}};
    if (const auto it = ranks.find(rule); it != ranks.end()) {
      EXPECT_EQ(smallest.rank, it->second) << text_of(smallest);
    }
  }
  EXPECT_GE(tried.size(), 25u);
}

TEST(SmallestDescriptor, StopsAtItsBudget) {
  Descriptor d;
  d.rank = 5;
  d.dims = {1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20};
  std::size_t calls = 0;
  const auto count = [&](const Descriptor&) {
    ++calls;
    return true;
  };
  smallest_descriptor(d, count, 3);
  EXPECT_LE(calls, 3u);
}

RC_GTEST_PROP(SmallestDescriptor, EveryStepIsSimplerAndItEnds, (std::uint64_t seed)) {
  DescriptorGenerator generator(seed);
  const Descriptor found = generator.next().descriptor;
  // Any property would do; this one has many local minima. It depends only on fields that have a
  // meaning.
  const auto hash = [](const Descriptor& d) { return std::hash<std::string>()(text_of(d)) % 7; };
  const auto wanted = hash(found);
  std::optional<Descriptor> last;
  const auto predicate = [&](const Descriptor& d) {
    if (hash(d) != wanted) return false;
    RC_ASSERT(!last || simpler(d, *last));
    last = d;
    return true;
  };
  const Descriptor smallest = smallest_descriptor(found, predicate, 100000);
  RC_ASSERT(!last || smallest == *last);
  // 1-minimal: a second descent finds nothing.
  std::size_t taken = 0;
  smallest_descriptor(smallest, [&](const Descriptor& d) {
    taken += hash(d) == wanted;
    return hash(d) == wanted;
  });
  RC_ASSERT(taken == 0u);
}

}  // namespace
}  // namespace redzone::generators
