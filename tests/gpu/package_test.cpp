// The shipped packages on a GPU, from C++: every kind of launch that they have, over drawn calls,
// compared with the float64 references.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

#include "core/error.h"
#include "core/plan_text.h"
#include "core/validate.h"
#include "device/device.h"
#include "generators/plan_generator.h"
#include "package/packages.h"
#include "trial/trial_runner.h"

namespace redzone {
namespace {

constexpr int kPlans = 120;  // of each package

class ShippedPackages : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto probe = device::probe_cuda();
    if (!probe.device) GTEST_SKIP() << probe.problem;
    const auto folder = std::filesystem::path(PACKAGES) / GetParam();
    if (!std::filesystem::exists(folder / "target.toml"))
      GTEST_SKIP() << folder << " is not there: ./scripts/triton_export.py shipped makes it";
    if (probe.compute_capability != 90)
      GTEST_SKIP() << "compiled for compute capability 9.0, not " << probe.compute_capability;
    auto opened = device::open_cuda_device();
    ASSERT_TRUE(opened) << opened.error().detail;
    device_ = std::move(*opened);
    const auto added = package::add_packages(registry_, {&folder, 1});
    ASSERT_TRUE(added) << added.error().message;
    runner_.emplace(*device_, registry_, DeviceKind::cuda, nullptr,
                    trial::limits_for(device_->info()));
  }
  void TearDown() override {
    // A lost device cannot be torn down.
    if (runner_ && runner_->device_lost()) {
      std::fflush(nullptr);
      std::_Exit(1);
    }
  }

  const TargetSpec& spec() const {
    const TargetEntry* entry =
        registry_.find(std::string("triton.") + GetParam(), DeviceKind::cuda);
    RZ_CHECK(entry != nullptr);
    return entry->spec;
  }

  // Runs two trials that differ in order, launch mode, placement and poison. Adds what they
  // observed to the counters.
  void expect_clean(const Plan& plan) {
    SCOPED_TRACE(print_plan(plan));
    const auto count = static_cast<std::uint32_t>(calls_of(plan).size());
    TrialSpec forwards, backwards;
    forwards.mode = {Launch::gated, Allocator::guard, Placement::guard_after, 0xffffffffu, 11};
    forwards.reference = true;
    backwards.mode = {Launch::blocking, Allocator::guard, Placement::guard_before, 0x3f8ccccdu, 0};
    for (std::uint32_t i = 0; i < count; ++i) {
      forwards.order.push_back(i);
      backwards.order.push_back(count - 1 - i);
    }
    const Observation a = runner_->run(plan, forwards);
    ASSERT_EQ(a.end, End::completed) << a.message << (a.fault ? a.fault->detail : "");
    const Observation b = runner_->run(plan, backwards);
    ASSERT_EQ(b.end, End::completed) << b.message << (b.fault ? b.fault->detail : "");
    ASSERT_EQ(a.calls.size(), count);
    ASSERT_EQ(b.calls.size(), count);
    for (std::uint32_t i = 0; i < count; ++i) expect_equal(a.calls[i], b.calls[i]);
  }

  void expect_equal(const CallObservation& a, const CallObservation& b) {
    EXPECT_EQ(a.launches.size(), 1u);
    for (const auto& r : a.references) {
      ++compared_;
      EXPECT_EQ(r.mismatches, 0u) << r.tensor << "[" << r.first_index << "]: got " << r.got
                                  << ", want " << r.want;
    }
    ASSERT_EQ(a.buffers.size(), b.buffers.size());
    for (std::size_t k = 0; k < a.buffers.size(); ++k) {
      for (const auto* buffer : {&a.buffers[k], &b.buffers[k]}) {
        EXPECT_EQ(buffer->dirty_before + buffer->dirty_after + buffer->dirty_gaps, 0u)
            << buffer->name;
        EXPECT_EQ(buffer->changed, 0u) << buffer->name;
      }
      if (a.buffers[k].scratch)
        ++with_scratch_;
      else
        EXPECT_EQ(a.buffers[k].digest, b.buffers[k].digest) << a.buffers[k].name;
    }
  }

  std::unique_ptr<device::Device> device_;
  Registry registry_;
  std::optional<trial::TrialRunner> runner_;
  std::size_t compared_ = 0, with_scratch_ = 0;
};

TEST_P(ShippedPackages, AgreeWithTheirReferencesUnderEverySettingOfAKnob) {
  const auto memory_bytes = static_cast<std::int64_t>(device_->info().memory_bytes);
  generators::PlanGenerator generator(spec(), generators::gpu_budget(memory_bytes), 1);
  std::map<std::string, std::set<Value>> seen;
  for (int i = 0; i < kPlans && !HasFailure(); ++i) {
    const Plan plan = generator.next();
    for (const auto* step : calls_of(plan))
      for (const auto& [knob, value] : step->call.config) seen[knob].insert(value);
    expect_clean(plan);
  }
  EXPECT_GT(compared_, 50u);
  for (const auto& knob : spec().knobs)
    EXPECT_EQ(seen[knob.name].size(), knob.values.size()) << knob.name;
  if (seen.contains("indexing"))
    EXPECT_GT(with_scratch_, 10u) << "descriptors that are built on the device are in scratch";
  else
    EXPECT_EQ(with_scratch_, 0u);
}

INSTANTIATE_TEST_SUITE_P(Packages, ShippedPackages,
                         testing::Values("attention_fwd", "chunk_bwd_dh", "chunk_bwd_dh_correction",
                                         "chunk_fwd_h", "chunk_fwd_phase1", "matmul_persistent",
                                         "scale_descriptor"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace redzone
