// The rule for scratch sizes, its factors, and how a missing factor is named.
#include "oracles/scratch.h"

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>
#include <cmath>
#include <limits>

#include "oracles/observations.h"
#include "oracles/screen.h"

namespace redzone::oracles {
namespace {

struct Grid {
  std::int64_t x = 1, y = 1, z = 1, num_ctas = 1;
  std::uint64_t all() const { return static_cast<std::uint64_t>(x * y * z * num_ctas); }
};

ScratchObservation request(std::uint64_t bytes, std::uint64_t per_cta, Grid g) {
  return {"s", bytes, 128, per_cta, {g.x, g.y, g.z}, g.num_ctas, 128};
}

// Each call makes one of these requests.
Observation asked(const std::vector<ScratchObservation>& requests) {
  Observation o = testing::completed(std::vector<std::uint64_t>(requests.size(), 7));
  for (std::size_t i = 0; i < requests.size(); ++i) o.calls[i].scratch = {requests[i]};
  return o;
}

Plan plan_for(const Observation& o) {
  return testing::plan_of_calls(std::vector<std::int64_t>(o.calls.size(), 1));
}

Verdict judge_scratch(const Observation& o) {
  return ScratchOracle().judge(plan_for(o), {}, {&o, 1});
}

// The missing factor that the oracle reports; "" if it passes.
std::string missing(const std::vector<ScratchObservation>& requests) {
  const Verdict v = judge_scratch(asked(requests));
  if (!v.failed()) return "";
  EXPECT_EQ(v.signature, (Signature{FailKind::scratch, "t", "", "s", v.signature.side, ""}));
  return v.signature.side;
}

TEST(Scratch, TheWholeProductIsNeeded) {
  const Grid g{4, 3, 2, 2};
  EXPECT_EQ(needed_bytes(request(0, 256, g)), 256u * 48);
  EXPECT_EQ(judge_scratch(asked({request(256 * 48, 256, g)})).outcome, Outcome::pass);
  EXPECT_EQ(judge_scratch(asked({request(256 * 48 + 1, 256, g)})).outcome, Outcome::pass);
  EXPECT_EQ(missing({request(256 * 48 - 1, 256, g)}), "size");
}

TEST(Scratch, NamesTheMissingFactor) {
  const Grid g{4, 3, 1, 2};
  EXPECT_EQ(missing({request(0, 256, g)}), "everything");
  EXPECT_EQ(missing({request(256 * 12, 256, g)}), "num_ctas");
  EXPECT_EQ(missing({request(256 * 2, 256, g)}), "grid");
  EXPECT_EQ(missing({request(256 * 2 * 4, 256, g)}), "grid") << "of y alone";
  EXPECT_EQ(missing({request(256, 256, g)}), "grid and num_ctas");
  EXPECT_EQ(missing({request(256, 256, {4})}), "grid");
  EXPECT_EQ(missing({request(256, 256, {1, 1, 1, 2})}), "num_ctas");
}

TEST(Scratch, NamesTheMissingAlignment) {
  ScratchObservation r = request(256, 256, {});
  r.align = 64;
  EXPECT_EQ(missing({r}), "alignment");
  r.bytes = 255;
  EXPECT_EQ(missing({r}), "size") << "too small comes first";
}

TEST(Scratch, NamesAProductOf32Bits) {
  const Grid g{1 << 20, 16};
  const std::uint64_t needed = 512ull << 24;
  ASSERT_EQ(needed & 0xffffffffu, 0u);
  const std::uint64_t odd = needed + (1ull << 24) * 3;
  EXPECT_EQ(missing({request(odd & 0xffffffffu, 515, g)}), "32-bit product");
  EXPECT_EQ(missing({request(odd, 515, g)}), "");
}

TEST(Scratch, NamesAnEarlierCall) {
  EXPECT_EQ(missing({request(512, 256, {2}), request(512, 256, {5})}), "earlier call");
  EXPECT_EQ(missing({request(1280, 256, {5}), request(512, 256, {2})}), "");
}

TEST(Scratch, TheNamedFactorExplainsAllRequests) {
  // For call 2 alone, either the grid is missing or it is that of call 1.
  EXPECT_EQ(missing({request(256, 256, {1}), request(256, 256, {5})}), "grid");
  EXPECT_EQ(missing({request(256, 256, {1}), request(256, 256, {5}), request(700, 256, {9})}),
            "grid")
      << "what agrees in nothing with the first is passed over";
  EXPECT_EQ(missing({request(512, 256, {2}), request(512, 256, {2, 2}), request(512, 256, {5})}),
            "earlier call")
      << "the grid's y explains the first of two only";
}

TEST(Scratch, TheReasonStatesTheFormula) {
  const Verdict v =
      judge_scratch(asked({request(1024, 256, {4}), request(256, 256, {4, 4, 1, 2})}));
  EXPECT_EQ(v.call, 1);
  EXPECT_EQ(v.reason,
            "scratch 's' of call 2 (N = 1) has 256 bytes; the kernel needs 8192 = 256 a CTA * grid "
            "4 * 4 * 1 * num_ctas 2: the grid and num_ctas are missing");
}

TEST(Scratch, AnImpossibleGridIsAnotherOraclesBusiness) {
  EXPECT_EQ(missing({request(0, 256, {0})}), "");
  EXPECT_EQ(missing({request(0, 256, {-1, -1})}), "");
}

TEST(Scratch, NoNeedIsNoNull) {
  EXPECT_EQ(missing({request(0, 0, {4})}), "");
}

TEST(Scratch, SaysNothingWithoutANeed) {
  EXPECT_EQ(judge_scratch(testing::completed({1})).outcome, Outcome::not_applicable);
  EXPECT_EQ(judge_scratch(testing::ended(End::out_of_memory)).outcome, Outcome::not_applicable);
  EXPECT_EQ(judge_scratch(testing::ended(End::worker_error)).outcome, Outcome::harness_error);
  EXPECT_EQ(judge_scratch(testing::faulted({"SIGSEGV"})).outcome, Outcome::inconclusive);
}

TEST(Scratch, TheScreenJudgesItBehindCanaries) {
  const Observation a = asked({request(256, 256, {4})});
  Observation both[] = {a, a};
  EXPECT_EQ(ScreenOracle().judge(plan_for(a), {}, both).signature.kind, FailKind::scratch);
  both[0].calls[0].buffers[1].dirty_after = 4;
  EXPECT_EQ(ScreenOracle().judge(plan_for(a), {}, both).signature.kind, FailKind::redzone);
}

rc::Gen<std::int64_t> factor() {
  return rc::gen::oneOf(
      rc::gen::inRange<std::int64_t>(1, 6),
      rc::gen::inRange<std::int64_t>(1, std::numeric_limits<std::int64_t>::max()));
}

RC_GTEST_PROP(Scratch, NeverOverflows, ()) {
  const Grid g{*factor(), *factor(), *factor(), *factor()};
  const auto per_cta = static_cast<std::uint64_t>(*factor());
  const std::uint64_t got = needed_bytes(request(0, per_cta, g));
  // In double precision, which does not saturate.
  const double exact = static_cast<double>(per_cta) * static_cast<double>(g.x) *
                       static_cast<double>(g.y) * static_cast<double>(g.z) *
                       static_cast<double>(g.num_ctas);
  const double most = std::ldexp(1.0, 64);
  RC_ASSERT(std::abs(static_cast<double>(got) - std::min(exact, most)) <= 1e-12 * exact);
}

RC_GTEST_PROP(Scratch, WhatIsNeededIsEnoughAndLessIsNot, ()) {
  const auto small = [] { return rc::gen::inRange<std::int64_t>(1, 9); };
  const Grid g{*small(), *small(), *small(), *small()};
  const auto per_cta = static_cast<std::uint64_t>(*rc::gen::inRange(1, 5000));
  const std::uint64_t needed = per_cta * g.all();
  const auto less = *rc::gen::inRange<std::uint64_t>(0, needed);
  RC_ASSERT(missing({request(needed, per_cta, g)}).empty());
  RC_ASSERT(!missing({request(less, per_cta, g)}).empty());
}

RC_GTEST_PROP(Scratch, ADroppedFactorIsNamed, ()) {
  const auto big = [] { return rc::gen::inRange<std::int64_t>(2, 9); };
  const Grid g{*big(), *big(), *big(), *big()};
  const auto per_cta = static_cast<std::uint64_t>(*rc::gen::inRange(1, 5000));
  RC_PRE(static_cast<std::uint64_t>(g.num_ctas) !=
         g.all() / static_cast<std::uint64_t>(g.num_ctas));
  const std::string without_grid =
      missing({request(per_cta * static_cast<std::uint64_t>(g.num_ctas), per_cta, g)});
  // If an extent of the grid equals num_ctas, either could be the remaining factor.
  RC_ASSERT(without_grid == "grid" ||
            (without_grid == "grid and num_ctas" &&
             (g.x == g.num_ctas || g.y == g.num_ctas || g.z == g.num_ctas)));
  RC_ASSERT(missing({request(per_cta, per_cta, g)}) == "grid and num_ctas");
  RC_ASSERT(missing({request(per_cta * g.all() / static_cast<std::uint64_t>(g.num_ctas), per_cta,
                             g)}) == "num_ctas");
}

}  // namespace
}  // namespace redzone::oracles
