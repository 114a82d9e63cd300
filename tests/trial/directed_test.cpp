// Trials that force the order of two operations: whatever else the program leaves open runs in the
// same order in both, so that nothing but the two can make a difference.
#include <gtest/gtest.h>
#include <redzone/kernel.h>
#include <redzone/target.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "trial/device_trial_host.h"

namespace redzone::testing {
namespace {

constexpr int kSideStreams = 3;

// What the kernels of a trial were, in the order in which they ran.
std::vector<int> ran;

__global__ void note_run(float*, int number) {
  ran.push_back(number);
}

// A launch, or a wait of one stream for another.
struct DirectedStep {
  int launch = -1;  // its number
  int stream = 0;
  int on = 0;
};

std::vector<DirectedStep> some_steps(std::mt19937& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::vector<DirectedStep> steps;
  const int launches = 3 + below(7);
  for (int k = 0; k < launches;) {
    DirectedStep step{.stream = below(kSideStreams + 1), .on = below(kSideStreams + 1)};
    if (below(3) > 0) step.launch = k++;
    steps.push_back(step);
  }
  return steps;
}

struct Stepping : Target {
  explicit Stepping(std::vector<DirectedStep> all) : steps(std::move(all)) {}
  // Names of their own, because of pairs with equal names one is kept.
  static constexpr std::array kNames{"k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8", "k9"};
  void run(Context& ctx) override {
    auto* shared = static_cast<float*>(ctx.scratch("shared", sizeof(float)));
    for (const auto& step : steps) {
      if (step.launch < 0)
        ctx.wait(step.stream, step.on);
      else
        launch(ctx, kNames.at(static_cast<std::size_t>(step.launch)), note_run,
               {.stream = step.stream}, shared, step.launch);
    }
  }
  std::vector<DirectedStep> steps;
};

std::size_t place_in(const std::vector<int>& order, const std::string& name) {
  const auto is_it = [&](int k) {
    return Stepping::kNames.at(static_cast<std::size_t>(k)) == name;
  };
  return static_cast<std::size_t>(std::find_if(order.begin(), order.end(), is_it) - order.begin());
}

TEST(DirectedTrial, DiffersFromItsCounterpartInTheOrderOfTheTwoAlone) {
  std::mt19937 random(7);
  int pairs = 0;
  for (int program = 0; program < 60; ++program) {
    const auto steps = some_steps(random);
    TargetSpec spec;
    spec.name = "t";
    spec.dims = {{.name = "N", .min = 1}};
    spec.tensors = {{.name = "y", .role = Role::out, .shape = shape_of({"N"})}};
    spec.side_streams = kSideStreams;
    Registry targets;
    ASSERT_TRUE(
        targets.add({spec, DeviceKind::host, [&] { return std::make_unique<Stepping>(steps); }}));
    trial::DeviceTrialHost host(device::open_host_device(), targets, nullptr, "");
    Plan plan;
    plan.target = "t";
    CallStep step;
    step.call.dims = {{"N", 1}};
    plan.steps = {step};
    TrialSpec trial{.mode = {.launch = program % 2 == 0 ? Launch::async : Launch::gated,
                             .schedule_seed = static_cast<std::uint64_t>(program)}};
    trial.records_order = true;
    const Observation recorded = host.run(plan, trial);
    ASSERT_TRUE(recorded.order) << recorded.message;
    for (const auto& pair : recorded.order->candidates) {
      std::array<std::vector<int>, 2> others;
      for (const bool second_first : {false, true}) {
        ran.clear();
        trial.direction = Direction{pair.first.number, pair.second.number, second_first};
        const Observation o = host.run(plan, trial);
        ASSERT_EQ(o.end, End::completed) << o.message;
        EXPECT_TRUE(o.order->directed) << pair.first.name << ", " << pair.second.name;
        const std::size_t first = place_in(ran, pair.first.name);
        ASSERT_LT(first, ran.size());
        EXPECT_EQ(place_in(ran, pair.second.name) < first, second_first);
        ran.erase(ran.begin() + static_cast<std::ptrdiff_t>(first));
        others.at(second_first ? 1 : 0) = ran;
      }
      EXPECT_EQ(others[0], others[1]) << pair.first.name << ", " << pair.second.name;
      ++pairs;
    }
  }
  EXPECT_GE(pairs, 200);
}

}  // namespace
}  // namespace redzone::testing
