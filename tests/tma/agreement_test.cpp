// Comparison with a fake driver that agrees, has an additional rule, or lacks one.
#include "tma/agreement.h"

#include <gtest/gtest.h>

#include "generators/descriptor_simplify.h"
#include "generators/descriptors.h"
#include "report/tma_agreement.h"

namespace redzone::tma {
namespace {

using Driver = std::function<int(const Descriptor&)>;

// The result that the checker predicts; unknown results count as refused.
int as_checked(const Descriptor& d) {
  return answer_of_driver(check(d, 90)) == Answer::accepts ? 0 : 1;
}

struct Compared {
  Result<Agreement> result;
  std::size_t encoded = 0;
};

Compared compare_with(const Driver& driver, std::uint64_t count = 20000) {
  generators::DescriptorGenerator generator(5);
  Compared out{harness_error("not run"), 0};
  AgreementSetup setup;
  setup.count = count;
  setup.next = [&] { return generator.next().descriptor; };
  setup.encode = [&](const Descriptor& d) {
    ++out.encoded;
    return driver(d);
  };
  setup.reduce = [](const Descriptor& found, const auto& predicate) {
    return generators::smallest_descriptor(found, predicate, 2000);
  };
  out.result = compare(setup);
  return out;
}

TEST(Agreement, WithItself) {
  const auto compared = compare_with(as_checked);
  ASSERT_TRUE(compared.result);
  const Agreement& a = *compared.result;
  EXPECT_EQ(a.descriptors, 20000u);
  EXPECT_EQ(a.disagreed, 0u);
  EXPECT_EQ(a.agreed + a.open, a.descriptors);
  EXPECT_TRUE(a.disagreements.empty());
  ASSERT_EQ(a.rules.size(), enumerators<Rule>().size());
  for (const auto& rule : a.rules) EXPECT_GT(rule.broken, 0u) << name_of(rule.rule);
}

TEST(Agreement, ARuleThatOnlyTheDriverHas) {
  // The driver accepts no dim beyond 2^31.
  const auto compared = compare_with([](const Descriptor& d) {
    for (std::uint32_t i = 0; i < std::min(d.rank, kMaxRank); ++i)
      if (d.dims[i] > std::uint64_t{1} << 31) return 1;
    return as_checked(d);
  });
  ASSERT_TRUE(compared.result);
  const Agreement& a = *compared.result;
  EXPECT_GT(a.disagreed, 100u);
  ASSERT_FALSE(a.disagreements.empty());
  EXPECT_LE(a.disagreements.size(), kMaxDisagreements);
  const Disagreement& first = a.disagreements[0];
  EXPECT_FALSE(first.driver_accepts);
  EXPECT_TRUE(first.rules.empty());
  EXPECT_GT(first.descriptors, 1u);
  // Each function has its own smallest descriptor: im2col needs at least three dims.
  for (const auto& each : a.disagreements) {
    const Descriptor& d = each.smallest;
    EXPECT_EQ(d.rank, d.kind == Kind::tiled ? 1u : 3u) << text_of(d);
    if (d.kind == Kind::tiled) {
      EXPECT_EQ(d.dims[0], (std::uint64_t{1} << 31) + 1) << text_of(d);
    }
  }
  const std::string text = report::agreement_text({"a GPU", "1.2", 5, a});
  EXPECT_NE(
      text.find("the driver rejects a descriptor that the checker accepts: rules broken: none"),
      std::string::npos)
      << text;
}

TEST(Agreement, ARuleThatTheDriverLacks) {
  const auto compared = compare_with([](const Descriptor& d) {
    for (const auto& v : check(d, 90))
      if (v.rule != Rule::element_stride_range && driver_says(v.rule) == Says::forbids) return 1;
    return 0;
  });
  ASSERT_TRUE(compared.result);
  const Agreement& a = *compared.result;
  ASSERT_FALSE(a.disagreements.empty());
  for (const auto& d : a.disagreements) {
    EXPECT_TRUE(d.driver_accepts);
    EXPECT_EQ(d.rules, std::vector<Rule>{Rule::element_stride_range}) << text_of(d.smallest);
    EXPECT_EQ(d.smallest.dims[0], 1u) << text_of(d.smallest);
  }
  for (const auto& rule : a.rules)
    if (rule.rule == Rule::element_stride_range) {
      EXPECT_GT(rule.alone_accepted, 0u);
      EXPECT_EQ(rule.alone_rejected, 0u);
    }
}

TEST(Agreement, ADriverThatIsMostlyWrongCostsBoundedWork) {
  const auto compared = compare_with([](const Descriptor& d) { return 1 - as_checked(d); });
  ASSERT_TRUE(compared.result);
  const Agreement& a = *compared.result;
  EXPECT_EQ(a.agreed, 0u);
  EXPECT_LE(a.disagreements.size(), kMaxDisagreements);
  EXPECT_GT(a.not_reduced, 0u);
  EXPECT_LE(compared.encoded, 20000 + 4 * kMaxDisagreements * 2000);
}

TEST(Agreement, AnErrorOfTheContextIsNoAnswer) {
  std::size_t calls = 0;
  const auto compared =
      compare_with([&](const Descriptor& d) { return ++calls > 3000 ? 700 : as_checked(d); });
  ASSERT_FALSE(compared.result);
  EXPECT_EQ(compared.result.error().kind, ErrorKind::harness);
  EXPECT_NE(compared.result.error().message.find("700"), std::string::npos);
}

TEST(Agreement, IsStopped) {
  generators::DescriptorGenerator generator(5);
  AgreementSetup setup;
  setup.count = 1'000'000'000;
  setup.next = [&] { return generator.next().descriptor; };
  setup.encode = as_checked;
  setup.stop = [] { return true; };
  const auto result = compare(setup);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->stopped);
  EXPECT_LT(result->descriptors, 10000u);
}

}  // namespace
}  // namespace redzone::tma
