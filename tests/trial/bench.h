// A runner over a fake device with one target that the test defines by functions.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>

#include "trial/fake_device.h"
#include "trial/trial_runner.h"

namespace redzone::testing {

using RunFunction = std::function<void(Context&)>;
using ReferenceFunction = std::function<void(ReferenceCall&)>;
using SampleFunction = std::function<void(SampledCall&)>;

class FunctionTarget final : public Target {
 public:
  FunctionTarget(RunFunction run, ReferenceFunction reference, SampleFunction sample = {})
      : run_(std::move(run)), reference_(std::move(reference)), sample_(std::move(sample)) {}
  void run(Context& ctx) override { run_(ctx); }
  void reference(ReferenceCall& call) const override {
    if (reference_) reference_(call);
  }
  void reference_rows(SampledCall& call) const override {
    if (sample_) sample_(call);
  }

 private:
  RunFunction run_;
  ReferenceFunction reference_;
  SampleFunction sample_;
};

// A 2-d array in the form that a kernel takes.
struct Matrix {
  float* data;
  std::int64_t rows, columns, row_stride, column_stride;
  float& at(std::int64_t r, std::int64_t c) const {
    return data[r * row_stride + c * column_stride];
  }
};

inline Matrix matrix(const TensorArg& t) {
  return {t.data<float>(), t.shape[0], t.shape[1], t.strides[0], t.strides[1]};
}

// Every kernel here has one thread.
inline void double_kernel(Matrix x, Matrix y) {
  for (std::int64_t r = 0; r < x.rows; ++r)
    for (std::int64_t c = 0; c < x.columns; ++c) y.at(r, c) = 2 * x.at(r, c);
}

inline void store_kernel(float* p, float value) {
  *p = value;
}
inline void store_byte_kernel(unsigned char* p, unsigned char value) {
  *p = value;
}
inline void nothing_kernel() {}

// y = 2 x, any layout.
inline void run_double(Context& ctx) {
  launch(ctx, "double", double_kernel, {}, matrix(ctx.tensor("x")), matrix(ctx.tensor("y")));
}

// Dims R and C; x and y of [R, C], x read only.
inline TargetSpec double_spec() {
  TargetSpec spec;
  spec.name = "t";
  spec.dims = {{.name = "R", .min = 0}, {.name = "C", .min = 0}};
  spec.tensors = {{.name = "x", .shape = shape_of({"R", "C"}), .layouts = LayoutRules::strided()},
                  {.name = "y",
                   .role = Role::out,
                   .shape = shape_of({"R", "C"}),
                   .layouts = LayoutRules::strided()}};
  return spec;
}

inline Call call_of(std::int64_t rows, std::int64_t columns, std::uint64_t seed = 1) {
  Call call;
  call.dims = {{"R", rows}, {"C", columns}};
  call.seed = seed;
  return call;
}

struct Bench {
  explicit Bench(RunFunction run, TargetSpec spec = double_spec(), ReferenceFunction reference = {},
                 trial::TrialLimits limits = {}, SampleFunction sample = {})
      : limits(limits) {
    spec.has_reference = static_cast<bool>(reference);
    const auto make = [run, reference, sample] {
      return std::make_unique<FunctionTarget>(run, reference, sample);
    };
    const auto added = registry.add({spec, DeviceKind::host, make});
    EXPECT_TRUE(added) << added.error().message;
  }

  trial::TrialRunner& runner() {
    if (!made)
      made = std::make_unique<trial::TrialRunner>(device, registry, DeviceKind::host, &box, limits);
    return *made;
  }
  Observation run(const Plan& plan, const TrialSpec& trial) {
    Observation o = runner().run(plan, trial);
    if (!runner().device_lost()) {
      EXPECT_EQ(device.guard().live_bytes, 0u) << "a region was not given back";
      EXPECT_EQ(device.guard().released_in_flight, 0u);
    }
    return o;
  }
  Observation run(const std::vector<Call>& calls, Mode mode = {}) {
    Plan plan;
    plan.target = "t";
    for (const auto& call : calls) plan.steps.push_back(CallStep{call, 1, 0});
    return run(plan, {.mode = mode});
  }

  FakeDevice device;
  Registry registry;
  device::BlackBox box;
  trial::TrialLimits limits;
  std::unique_ptr<trial::TrialRunner> made;
};

// A target with one launch, named after C.
inline void run_named(Context& ctx) {
  const std::string name = "k" + std::to_string(ctx.dim("C"));
  launch(ctx, name.c_str(), nothing_kernel, {});
}

inline Plan plan_of(std::vector<Step> steps) {
  Plan plan;
  plan.target = "t";
  plan.steps = std::move(steps);
  return plan;
}

inline const BufferObservation& buffer(const Observation& o, std::size_t call,
                                       std::string_view name) {
  for (const auto& b : o.calls.at(call).buffers)
    if (b.name == name) return b;
  throw std::out_of_range("no buffer " + std::string(name));
}

}  // namespace redzone::testing
