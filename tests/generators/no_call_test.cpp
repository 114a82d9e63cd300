#include "generators/no_call.h"

#include <gtest/gtest.h>

#include <thread>

#include <stdexcept>

#include "target/guarded_spec.h"
#include "tests/generators/specs.h"

namespace redzone::generators {
namespace {

using redzone::testing::chunk_like_spec;

std::string why(const TargetSpec& spec) {
  const auto found = why_no_call(spec);
  EXPECT_TRUE(found) << found.error().message;
  return found ? found->value_or("") : "";
}

TEST(NoCall, OfATargetThatHasSomeThereIsNothingToSay) {
  EXPECT_EQ(why_no_call(chunk_like_spec()).value(), std::nullopt);
}

TEST(NoCall, AConstraintThatNeverHolds) {
  TargetSpec spec = chunk_like_spec();
  spec.constraints.push_back(Constraint::predicate(
      "T must be odd and even", [](const Dims&, const Config&) { return false; }));
  EXPECT_NE(why(spec).find("target 'chunk_like': no call found"), std::string::npos) << why(spec);
}

TargetSpec small_spec(Constraint constraint) {
  TargetSpec spec;
  spec.name = "small";
  spec.dims = {DimSpec::of("N", 1, 64, ""), {.name = "M", .values = {1, 5, 41, 64}}};
  spec.tensors = {TensorSpec::of("y", DType::f32, Role::out, shape_of({"N", "M"}))};
  spec.knobs = {{.name = "warps", .values = {4, 8, 16}, .drawn = 2}};
  spec.constraints = {std::move(constraint)};
  return spec;
}

// The only call of 512, which no draw is likely to find.
TEST(NoCall, TheOnlyCallOfASmallSpecIsFound) {
  TargetSpec spec = small_spec(Constraint::predicate("is it", [](const Dims& d, const Config& c) {
    return get(d, "N") == 37 && get(d, "M") == 41 && get_int(c, "warps") == 8;
  }));
  EXPECT_EQ(why(spec), "");
  spec.constraints.push_back(Constraint::predicate(
      "N is even", [](const Dims& d, const Config&) { return get(d, "N") % 2 == 0; }));
  EXPECT_EQ(why(spec),
            "target 'small': no call found that satisfies its constraints, of all 512; constraint "
            "'is it' rejects 511 of them");
}

TEST(NoCall, TheConstraintThatRejectsMostIsNamed) {
  TargetSpec spec = small_spec(Constraint::at_most("N", "M"));
  spec.constraints.push_back(Constraint::predicate(
      "M < N", [](const Dims& d, const Config&) { return get(d, "M") < get(d, "N"); }));
  EXPECT_EQ(why(spec),
            "target 'small': no call found that satisfies its constraints, of all 512; constraint "
            "'N must be at most M' rejects 290 of them");
  spec.dims[0].max = 1 << 20;
  EXPECT_NE(why(spec).find("in 5000 tries; constraint 'M < N' rejects "), std::string::npos)
      << why(spec);
}

TEST(NoCall, ASmallestCallThatIsTooLargeForTheDevice) {
  TargetSpec spec = small_spec(Constraint::at_most("N", "M"));
  spec.tensors[0].shape = [](const Dims&) { return Shape{100'000, 100'000}; };
  EXPECT_EQ(why_no_call(spec, nullptr, 41e9).value(), std::nullopt);
  EXPECT_EQ(why_no_call(spec, nullptr, 12e9).value(),
            "target 'small': the tensors of even its smallest call take 40.0 GB, and at most 12.0 "
            "GB are possible on this device");
}

TEST(NoCall, AShapeThatIsNegativeSaysWhichTensorHasIt) {
  TargetSpec spec = chunk_like_spec();
  spec.tensors[1].shape = [](const Dims& d) { return Shape{get(d, "B") - 9}; };
  EXPECT_NE(why(spec).find("tensor 'v': a negative size"), std::string::npos) << why(spec);
}

TEST(NoCall, AFunctionOfTheTargetThatThrows) {
  TargetSpec spec = chunk_like_spec();
  spec.tensors[0].shape = [](const Dims& d) { return Shape{get(d, "no_such_dim")}; };
  const auto found = why_no_call(spec);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::usage);
  EXPECT_EQ(found.error().message, "no dim 'no_such_dim'");
}

// Throws only for large calls, which the smallest call and the constraints do not reveal.
TEST(NoCall, AFunctionThatThrowsForSomeCalls) {
  TargetSpec spec = chunk_like_spec();
  spec.geometry = [](const Dims& d, const Config&) {
    if (get(d, "T") > 2048) throw SpecError("T is too large");
    return Geometry{};
  };
  const auto found = why_no_call(spec);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message, "T is too large");
}

TEST(NoCall, SlowFunctionsAreNotTriedForLong) {
  SpecCalls calls;
  auto* work = calls.keep("the work function");
  TargetSpec spec = chunk_like_spec();
  spec.work = [&](const Dims&, const Config&) {
    const SpecCalls::Running running(&calls, work);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return 1.0;
  };
  EXPECT_EQ(why_no_call(spec, &calls).value(), std::nullopt);
  EXPECT_LE(calls.times().front().calls, 21u);
}

// A function may throw for calls that its constraints do not allow.
TEST(NoCall, AFunctionThatThrowsWhereAConstraintDoesNotHold) {
  TargetSpec spec = chunk_like_spec();
  spec.constraints.push_back(Constraint::predicate(
      "T is large", [](const Dims& d, const Config&) { return get(d, "T") >= 64; }));
  spec.work = [](const Dims& d, const Config&) -> double {
    if (get(d, "T") < 64) throw std::runtime_error("T < 64");
    return 1;
  };
  EXPECT_EQ(why(guarded(spec)), "");
}

}  // namespace
}  // namespace redzone::generators
