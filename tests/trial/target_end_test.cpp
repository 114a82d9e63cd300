// A target outlives the work that it has enqueued.
#include <gtest/gtest.h>
#include <redzone/kernel.h>

#include <algorithm>

#include "trial/bench.h"
#include "trial/device_trial_host.h"

namespace redzone::testing {
namespace {

__global__ void add_member(const float* member, const float* x, float* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] + member[i];
}

// Its kernels read memory that belongs to a member, like those of a library that keeps a table.
class OwnsMemory final : public Target {
 public:
  static TargetSpec spec() {
    TargetSpec spec;
    spec.name = "owner";
    spec.dims = {{.name = "N", .min = 1}};
    spec.tensors = {{.name = "x", .shape = shape_of({"N"})},
                    {.name = "y", .role = Role::out, .shape = shape_of({"N"})}};
    return spec;
  }
  explicit OwnsMemory(int& alive) : alive_(alive) { ++alive_; }
  ~OwnsMemory() override {
    std::fill(table_.begin(), table_.end(), -1.0f);
    --alive_;
  }
  void run(Context& ctx) override {
    const std::int64_t n = ctx.dim("N");
    table_.assign(static_cast<std::size_t>(n), 1.0f);
    launch(ctx, "add", add_member, {}, static_cast<const float*>(table_.data()),
           ctx.tensor("x").data<float>(), ctx.tensor("y").data<float>(), n);
  }

 private:
  int& alive_;
  std::vector<float> table_;
};

TEST(TargetLifetime, EndsBehindItsWork) {
  int alive = 0;
  Registry registry;
  ASSERT_TRUE(registry.add({OwnsMemory::spec(), DeviceKind::host,
                            [&alive] { return std::make_unique<OwnsMemory>(alive); }}));
  device::BlackBox box;
  trial::DeviceTrialHost host(device::open_host_device(), registry, &box, "", std::nullopt);
  Plan plan;
  plan.target = "owner";
  plan.steps.push_back(CallStep{});
  std::get<CallStep>(plan.steps[0]).call.dims = {{"N", 1000}};
  std::uint64_t digest[2] = {};
  for (const Launch launch : {Launch::blocking, Launch::gated}) {
    plan.mode.launch = launch;
    const Observation o = host.run(plan, {.mode = plan.mode});
    ASSERT_EQ(o.end, End::completed) << o.message;
    digest[launch == Launch::gated] = buffer(o, 0, "y").digest;
    EXPECT_EQ(alive, 0);
  }
  EXPECT_EQ(digest[0], digest[1]) << "the kernel saw the table after its end";
}

}  // namespace
}  // namespace redzone::testing
