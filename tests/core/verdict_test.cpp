#include "core/verdict.h"
#include "core/names.h"

#include <gtest/gtest.h>

namespace redzone {
namespace {

constexpr auto all_kinds() {
  return enumerators<FailKind>();
}

TEST(FailKinds, HaveNamesThatAreReadBack) {
  for (const auto kind : all_kinds()) {
    const auto read = parse_name<FailKind>(name_of(kind));
    ASSERT_TRUE(read) << name_of(kind);
    EXPECT_EQ(*read, kind);
  }
}

TEST(FailKinds, AreOrderedByHowMuchTheySay) {
  for (const auto a : all_kinds())
    for (const auto b : all_kinds()) {
      EXPECT_EQ(more_specific(a, b) || more_specific(b, a), a != b);
      EXPECT_FALSE(more_specific(a, b) && more_specific(b, a));
      // Kinds that end a trial come first, then those that a single trial shows, then comparisons.
      const bool first = (ends_trial(a) && !ends_trial(b)) || (is_direct(a) && !is_direct(b));
      EXPECT_TRUE(!first || more_specific(a, b)) << name_of(a) << ", " << name_of(b);
    }
}

TEST(Signatures, OfACanaryAndAFaultAtOneBufferAreOneFailure) {
  const Signature canary{.kind = FailKind::redzone,
                         .target = "t",
                         .where = "",
                         .buffer = "y",
                         .side = "after",
                         .access = "write"};
  Signature fault = canary;
  fault.kind = FailKind::illegal_access;
  fault.where = "k";
  EXPECT_TRUE(fails_as(canary, fault) && fails_as(fault, canary));
  EXPECT_FALSE(same_bug(canary, fault));
  Signature before = canary;
  before.side = "before";
  EXPECT_FALSE(fails_as(before, fault) || fails_as(fault, before));
  EXPECT_FALSE(fails_as(before, canary));
  Signature of_gpu = fault;  // it names no buffer, so it may be of any
  of_gpu.buffer.clear();
  EXPECT_TRUE(fails_as(of_gpu, fault));
  EXPECT_FALSE(fails_as(of_gpu, canary));
}

// Earlier versions stored no line with the type of an exception.
TEST(Signatures, OfAnExceptionAreOneBugByTypeAndLine) {
  const Signature type{FailKind::fault, "t", "exception: ValueError", "", "", ""};
  Signature one = type, other = type, longer = type;
  one.where += " in f: raise ValueError(1)";
  other.where += " in f: raise ValueError(2)";
  longer.where += "s in f: raise ValueErrors(1)";
  EXPECT_TRUE(same_bug(type, one) && same_bug(one, type));
  EXPECT_TRUE(same_bug(one, one));
  EXPECT_FALSE(same_bug(one, other) || same_bug(other, one));
  EXPECT_FALSE(same_bug(type, longer) || same_bug(longer, type));
}

TEST(Signatures, OfAWriteBehindSharedMemoryMeetTheirOlderName) {
  const Signature older{FailKind::fault, "t", "shared-overrun", "", "", ""};
  Signature now{FailKind::illegal_access, "t", "k", "shared", "after", "write"};
  EXPECT_TRUE(fails_as(now, older));
  now.buffer = "y";
  EXPECT_FALSE(fails_as(now, older));
}

TEST(Signatures, OfAnExceptionMeetTheOneNameOfEarlierVersions) {
  const Signature older{FailKind::fault, "t", "target-error", "", "", ""};
  Signature now{FailKind::fault, "t", "exception: std::logic_error: no plan for #", "", "", ""};
  EXPECT_TRUE(fails_as(now, older));
  EXPECT_FALSE(fails_as(older, now));
  // Of two failures of this version, a target-error is a wrong use of the API.
  EXPECT_FALSE(same_bug_in_any_form(now, older));
  now.where = "double-free";
  EXPECT_FALSE(fails_as(now, older));
}

TEST(FailKinds, ThatEndATrialShowInThatTrial) {
  for (const auto kind : all_kinds()) EXPECT_TRUE(!ends_trial(kind) || is_direct(kind));
  EXPECT_TRUE(ends_trial(FailKind::hang));
  EXPECT_FALSE(ends_trial(FailKind::redzone));
  EXPECT_TRUE(is_direct(FailKind::input_changed));
  EXPECT_FALSE(is_direct(FailKind::nondeterministic));
  for (const auto kind : all_kinds())
    EXPECT_EQ(needs_reference(kind), kind == FailKind::reference) << name_of(kind);
}

}  // namespace
}  // namespace redzone
