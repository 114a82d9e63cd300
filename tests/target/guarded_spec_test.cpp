#include "target/guarded_spec.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "core/spec_mistake.h"

namespace redzone {
namespace {

[[noreturn]] void no_exception() {
  throw 3;
}

// A spec whose functions all throw something other than a std::exception.
TargetSpec throwing() {
  TargetSpec spec;
  spec.name = "scan";
  spec.constraints = {Constraint::predicate(
      "N is odd", [](const Dims&, const Config&) -> bool { no_exception(); })};
  spec.tensors = {
      {.name = "x",
       .shape = [](const Dims&) -> Shape { no_exception(); },
       .fill = Fill::offsets([](const Dims&) -> std::int64_t { no_exception(); }),
       .dtype_of = [](const Config&) -> DType { no_exception(); },
       .shape_with_knobs = [](const Dims&, const Config&) -> Shape { no_exception(); }}};
  spec.tolerance_of = [](const Config&) -> Tolerance { no_exception(); };
  spec.work = [](const Dims&, const Config&) -> double { no_exception(); };
  spec.geometry = [](const Dims&, const Config&) -> Geometry { no_exception(); };
  return spec;
}

std::string thrown_by(const std::function<void()>& use) {
  try {
    use();
  } catch (const SpecMistake& e) {
    return e.what();
  }
  return "nothing";
}

TEST(GuardedSpec, EveryFunctionThrowsWhoseItIsWhateverItThrew) {
  const TargetSpec spec = guarded(throwing());
  Dims dims;
  dims.emplace("N", 5);
  Config config;
  config.emplace("warps", std::int64_t{4});
  const std::string what = " threw something that is not a std::exception for ";
  const auto& x = spec.tensors[0];
  const std::pair<std::string, std::function<void()>> all[] = {
      {"constraint 'N is odd'" + what + "N = 5, warps = 4",
       [&] { spec.constraints[0].holds(dims, config); }},
      {"the shape function of tensor 'x'" + what + "N = 5", [&] { x.shape(dims); }},
      {"the shape function of tensor 'x'" + what + "N = 5, warps = 4",
       [&] { x.shape_for(dims, config); }},
      {"the range of the fill of tensor 'x'" + what + "N = 5", [&] { x.fill.range(dims); }},
      {"the dtype function of tensor 'x'" + what + "warps = 4", [&] { x.dtype_for(config); }},
      {"the tolerance function" + what + "warps = 4", [&] { spec.tolerance_for(config); }},
      {"the work function" + what + "N = 5, warps = 4", [&] { spec.work(dims, config); }},
      {"the geometry function" + what + "N = 5, warps = 4", [&] { spec.geometry(dims, config); }},
  };
  for (const auto& [expected, use] : all) EXPECT_EQ(thrown_by(use), "target 'scan': " + expected);
}

TEST(GuardedSpec, SaysWhatAnExceptionSays) {
  TargetSpec spec = throwing();
  spec.tensors[0].shape = shape_of({"M"});
  spec.work = [](const Dims&, const Config&) -> double { throw std::runtime_error("too large"); };
  spec = guarded(std::move(spec));
  EXPECT_EQ(thrown_by([&] { spec.tensors[0].shape({}); }),
            "target 'scan': the shape function of tensor 'x': no dim 'M'");
  EXPECT_EQ(thrown_by([&] { spec.work({}, {}); }),
            "target 'scan': the work function threw \"too large\"");
}

TEST(GuardedSpec, NoFunctionIsCalledOnceTheCallsHaveEnded) {
  const auto watch = std::make_shared<SpecWatch>(std::chrono::seconds(10), [](const auto&) {});
  int called = 0;
  TargetSpec spec;
  spec.name = "scan";
  spec.work = [&](const Dims&, const Config&) -> double { return ++called; };
  spec = guarded(std::move(spec), watch);
  {
    const SpecCalls::Until until(watch.get(), [] { return true; });
    EXPECT_THROW(spec.work({}, {}), SpecCallsEnded);
  }
  EXPECT_EQ(spec.work({}, {}), 1.0);
}

TEST(GuardedSpec, WhatIsNotDeclaredStaysSo) {
  TargetSpec spec;
  spec.tensors = {{.name = "x", .shape = shape_of({})}};
  spec = guarded(std::move(spec));
  EXPECT_FALSE(spec.work || spec.geometry || spec.tolerance_of || spec.tensors[0].dtype_of ||
               spec.tensors[0].fill.range);
  EXPECT_EQ(spec.tensors[0].shape({}), Shape{});
}

TEST(GuardedSpec, NoToleranceIsVacuous) {
  for (const double value :
       {-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    TargetSpec spec;
    spec.name = "scan";
    spec.tolerance_of = [value](const Config&) { return Tolerance{0, value}; };
    spec = guarded(std::move(spec));
    EXPECT_NE(thrown_by([&] { spec.tolerance_for({}); }).find("not a finite number >= 0"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace redzone
