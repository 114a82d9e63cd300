#include "core/plan_tensors.h"

#include <gtest/gtest.h>

namespace redzone {
namespace {

TargetSpec rows() {
  TargetSpec spec;
  spec.name = "my.rows";
  spec.dims = {DimSpec::of("M", 0, 8, "rows"), DimSpec::of("N", 1, 8, "columns")};
  spec.knobs = {KnobSpec{.name = "type", .values = {std::string("f32"), std::string("f64")}}};
  spec.tensors = {TensorSpec::of("x", DType::f16, Role::in, shape_of({"M", "N"})),
                  TensorSpec::of("y", DType::f32, Role::out, shape_of({"N"}))};
  spec.tensors[0].layouts.row_padding = spec.tensors[0].layouts.offset = true;
  spec.tensors[1].dtype_of = [](const Config& config) {
    return std::get<std::string>(config.at("type")) == "f64" ? DType::f64 : DType::f32;
  };
  return spec;
}

Plan of_two_calls() {
  CallStep first, second;
  first.call.dims = {{"M", 2}, {"N", 3}};
  first.call.config = {{"type", std::string("f32")}};
  first.call.layouts["x"] = {.row_padding_elems = 5, .offset_elems = 1};
  second.call.dims = {{"M", 0}, {"N", 4}};
  second.call.config = {{"type", std::string("f64")}};
  return {.target = "my.rows", .mode = {}, .steps = {first, SyncStep{}, second}};
}

TEST(PlanTensors, HaveTheirLayoutAndTypeInEachCall) {
  const auto tensors = tensors_of(of_two_calls(), rows(), "here");
  ASSERT_TRUE(tensors.has_value()) << tensors.error().message;
  ASSERT_EQ(tensors->size(), 4u);
  const PlanTensor& x = tensors->at(0);
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(x.shape, (Shape{2, 3}));
  EXPECT_EQ(x.strides, (Shape{8, 1}));
  EXPECT_EQ(x.offset_elems, 1);
  EXPECT_EQ(x.storage_bytes, 2 * (1 + 8 + 3));
  EXPECT_EQ(tensors->at(1).dtype, DType::f32);
  EXPECT_EQ(tensors->at(2).call, 1u);
  EXPECT_EQ(tensors->at(2).shape, (Shape{0, 4}));
  EXPECT_EQ(tensors->at(2).storage_bytes, 0);
  EXPECT_EQ(tensors->at(3).dtype, DType::f64);
  EXPECT_EQ(tensors->at(3).storage_bytes, 32);
}

TEST(PlanTensors, HaveTheShapeAndTheRoleThatTheKnobsSay) {
  TargetSpec spec = rows();
  spec.tensors[0].shape = {};
  spec.tensors[0].shape_with_knobs = [](const Dims& d, const Config& c) {
    return get_str(c, "type") == "f32" ? Shape{get(d, "M"), get(d, "N")} : Shape{get(d, "N"), 0};
  };
  spec.tensors[1].role_of = [](const Config& c) {
    return get_str(c, "type") == "f32" ? Role::out : Role::inout;
  };
  const auto tensors = tensors_of(of_two_calls(), spec, "here");
  ASSERT_TRUE(tensors.has_value()) << tensors.error().message;
  EXPECT_EQ(tensors->at(0).shape, (Shape{2, 3}));
  EXPECT_EQ(tensors->at(2).shape, (Shape{4, 0}));
  EXPECT_EQ(tensors->at(1).role, Role::out);
  EXPECT_EQ(tensors->at(3).role, Role::inout);
}

// The elements can be counted, their bytes cannot.
TEST(PlanTensors, AStorageBeyond63BitsIsRefused) {
  Plan plan = of_two_calls();
  std::get<CallStep>(plan.steps[0]).call.layouts["x"] = {.row_padding_elems = std::int64_t{1}
                                                                              << 61};
  TargetSpec spec = rows();
  spec.tensors[0].dtype = DType::f64;
  const auto tensors = tensors_of(plan, spec, "here");
  ASSERT_FALSE(tensors.has_value());
  EXPECT_EQ(tensors.error().message, "here: tensor 'x' of call 1 has too many bytes");
}

TEST(PlanTensors, APlanThatDoesNotFitIsRefused) {
  Plan plan = of_two_calls();
  std::get<CallStep>(plan.steps[0]).call.dims["N"] = 9;
  const auto tensors = tensors_of(plan, rows(), "here");
  ASSERT_FALSE(tensors.has_value());
  EXPECT_EQ(tensors.error().kind, ErrorKind::usage);
  EXPECT_TRUE(tensors.error().message.starts_with("here: ")) << tensors.error().message;
}

}  // namespace
}  // namespace redzone
