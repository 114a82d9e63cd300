// Calls at the boundaries of products: valid, within the budget, and met within a few plans.
#include "generators/products.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/plan_text.h"
#include "core/validate.h"
#include "generators/calls.h"
#include "generators/configs.h"
#include "generators/internal/draw.h"
#include "generators/plan_generator.h"
#include "tests/generators/specs.h"

namespace redzone::generators {
namespace {

using redzone::testing::awkward_specs;
using redzone::testing::chunk_like_spec;

// Two dims of no common tensor, so that their product costs little.
TargetSpec outer_sum_spec() {
  TargetSpec spec;
  spec.name = "outer_sum";
  spec.dims = {{.name = "R", .max = 1 << 20, .tile = 64},
               {.name = "C", .max = 1 << 24, .tile = 128},
               {.name = "B", .max = 64}};
  spec.tensors = {{.name = "x", .shape = shape_of({"R", "B"})},
                  {.name = "y", .dtype = DType::f64, .shape = shape_of({"C"})},
                  {.name = "z", .role = Role::out, .shape = shape_of({"R"})}};
  return spec;
}

TargetSpec with_geometry(TargetSpec spec) {
  spec.geometry = [](const Dims& d, const Config&) {
    Geometry geometry;
    geometry.launches = {{.kernel = "k",
                          .grid = {get(d, "R"), (get(d, "C") + 127) / 128, get(d, "B")},
                          .block = {128, 1, 1},
                          .shared_bytes = 8 * get(d, "C")}};
    geometry.products = {
        {.what = "row * columns", .factors = {get(d, "R"), get(d, "C"), 3}, .bits = 32}};
    return geometry;
  };
  return spec;
}

// The dry run's budget pays for nearly everything; that of the host is tight.
TEST(Products, CallsAtABoundaryAreValidAndWithinTheAllowance) {
  auto specs = awkward_specs();
  specs.push_back(outer_sum_spec());
  specs.push_back(with_geometry(outer_sum_spec()));
  for (const auto& spec : specs) {
    const CallMaker calls(spec, true);
    Draw draw{rc::Random(1)};
    for (const Cost& allowance : {Cost{2e6, 16e6}, Cost{1e18, 0x1p42}}) {
      int found = 0;
      for (int i = 0; i < 300; ++i) {
        const auto call = calls.at_boundary(draw, allowance);
        if (!call) continue;
        ++found;
        const auto valid = validate_call(*call, spec);
        ASSERT_TRUE(valid) << spec.name << ": " << valid.error().message;
        const Cost cost = calls.cost(*call);
        ASSERT_LE(cost.work, allowance.work) << spec.name;
        ASSERT_LE(cost.bytes, allowance.bytes) << spec.name;
      }
      // All but one of the specs have dims.
      EXPECT_TRUE(spec.dims.empty() ? found == 0 : found > 150) << spec.name << ": " << found;
    }
  }
}

TEST(Products, TheDimsThatAreDrawnAreAtTheBoundaryOfTheProduct) {
  const TargetSpec spec = with_geometry(outer_sum_spec());
  const Space space(spec);
  Draw draw{rc::Random(2)};
  const auto at = [&](std::int64_t rows, double bound) {
    const Dims dims{{"B", 1}, {"C", 1 << 16}, {"R", rows}};
    return at_boundary(
        space, dims,
        {[](const Dims& d) { return static_cast<double>(get(d, "R") * get(d, "C")); }, bound});
  };
  EXPECT_TRUE(at(1 << 15, 0x1p31)) << "the first that reaches it";
  EXPECT_TRUE(at((1 << 15) - 1, 0x1p31)) << "the last below";
  EXPECT_TRUE(at(1 << 15, 0x1p31 + 1)) << "the last at most";
  EXPECT_FALSE(at((1 << 15) + 1, 0x1p31));
  EXPECT_FALSE(at((1 << 15) - 2, 0x1p31));
}

// The number of the first plan with a call whose dims have the property, or `most` + 1.
template <class Holds>
int first_plan(const TargetSpec& spec, const Budget& budget, Holds holds, int most) {
  PlanGenerator generator(spec, budget, 11);
  for (int i = 1; i <= most; ++i) {
    const Plan plan = generator.next();
    for (const auto* step : calls_of(plan))
      if (holds(step->call.dims)) return i;
  }
  return most + 1;
}

double product(const Dims& dims, std::initializer_list<const char*> names) {
  double value = 1;
  for (const char* name : names) value *= static_cast<double>(get(dims, name));
  return value;
}

// Near, so that a plan which is far beyond the boundary does not count.
bool just_above(double value, double bound) {
  return value >= bound && value < bound * 1.05;
}

TEST(Products, EachBoundaryIsMetWithinAFewPlans) {
  const TargetSpec plain = outer_sum_spec(), declared = with_geometry(outer_sum_spec());
  constexpr int kPlans = 400;
  for (const double bound : {0x1p16, 0x1p31, 0x1p32}) {
    const auto passes = [&](const Dims& d) { return just_above(product(d, {"R", "C"}), bound); };
    EXPECT_LE(first_plan(plain, host_budget(), passes, kPlans), kPlans) << bound;
    EXPECT_LE(first_plan(plain, none_budget(), passes, kPlans), kPlans) << bound;
    EXPECT_LE(first_plan(declared, none_budget(), passes, kPlans), kPlans) << bound;
  }
  // Of one tensor, which only a dry run can have.
  const auto elements = [&](const Dims& d) {
    return just_above(product(d, {"B", "H", "T", "D"}), 0x1p31);
  };
  TargetSpec large = chunk_like_spec();
  for (auto& dim : large.dims)
    if (dim.name == "T") dim.max = 1 << 22;
  EXPECT_LE(first_plan(large, none_budget(), elements, kPlans), kPlans);
  // What only the declaration tells: the limits of shared memory and of the grid.
  const auto shared = [](const Dims& d) { return just_above(8 * product(d, {"C"}), 232448.0 + 1); };
  EXPECT_LE(first_plan(declared, none_budget(), shared, kPlans), kPlans);
  const auto grid = [](const Dims& d) {
    return just_above(std::ceil(product(d, {"C"}) / 128), 65536.0);
  };
  EXPECT_LE(first_plan(declared, none_budget(), grid, kPlans), kPlans);
}

// Where nothing is allocated, too.
TEST(Products, OffsetsOfADryRunPass32Bits) {
  const TargetSpec spec = chunk_like_spec();
  PlanGenerator generator(spec, none_budget(), 3);
  int far = 0;
  for (int i = 0; i < 400; ++i) {
    const Plan plan = generator.next();
    for (const auto* step : calls_of(plan))
      for (const auto& [name, layout] : step->call.layouts)
        far += layout.row_padding_elems > 1000 ? 1 : 0;
  }
  EXPECT_GT(far, 0);
}

// A plan of a seed that is not at a boundary is what it would be without them.
TEST(Products, OtherPlansStayAsTheyAre) {
  const TargetSpec spec = chunk_like_spec();
  Budget without = host_budget();
  without.boundary_share = 0;
  PlanGenerator a(spec, host_budget(), 5), b(spec, without, 5);
  int differ = 0;
  for (int i = 0; i < 400; ++i) {
    const Plan plan = a.next();
    if (plan == b.next()) continue;
    ++differ;
    EXPECT_EQ(plan.steps.size(), 1u);
  }
  EXPECT_GT(differ, 10);
  EXPECT_LT(differ, 50);
}

}  // namespace
}  // namespace redzone::generators
