#include "engine/plans.h"

#include <xxhash.h>

#include "generators/plan_generator.h"
#include "generators/simplify.h"

namespace redzone::engine {
namespace {

class GeneratedPlans final : public campaign::PlanSource {
 public:
  GeneratedPlans(const TargetSpec& spec, const generators::Budget& budget, std::uint64_t seed,
                 std::optional<Allocator> allocator)
      : spec_(spec), budget_(budget), seed_(seed), allocator_(allocator) {}
  Plan next() override {
    Plan plan = generator().next();
    if (allocator_ && *allocator_ != plan.mode.allocator)
      plan.mode = with_allocator(plan.mode, *allocator_);
    return plan;
  }
  std::string out_of_reach() override { return generator().out_of_reach(); }

 private:
  // Created at first use, because creation calls functions of the spec, whose time the campaign
  // must account for.
  generators::PlanGenerator& generator() {
    if (!generator_) generator_.emplace(spec_, budget_, seed_);
    return *generator_;
  }

  const TargetSpec& spec_;
  generators::Budget budget_;
  std::uint64_t seed_;
  std::optional<Allocator> allocator_;
  std::optional<generators::PlanGenerator> generator_;
};

generators::Budget budget_for(const DeviceTraits& device, const exec::Hello& worker) {
  if (!device.execution.runs_kernels) return generators::none_budget();
  if (device.execution.on_host_cores) return generators::host_budget();
  return generators::gpu_budget(worker.memory_bytes);
}

}  // namespace

std::unique_ptr<campaign::PlanSource> generated_plans(const TargetSpec& spec,
                                                      const DeviceTraits& device,
                                                      const exec::Hello& worker, std::uint64_t seed,
                                                      std::optional<Allocator> allocator,
                                                      const TargetEntry* entry) {
  auto budget = budget_for(device, worker);
  if (entry != nullptr) {
    budget.streams = budget.streams && !entry->immediate;
    budget.callers = budget.callers && entry->may_know_threads();
  }
  return std::make_unique<GeneratedPlans>(
      spec, budget, XXH3_64bits_withSeed(spec.name.data(), spec.name.size(), seed), allocator);
}

campaign::SimplifyFor simplify_for() {
  return [](const TargetSpec& spec) -> campaign::Simplify {
    return {[&spec](const Plan& plan) -> campaign::PlanStream {
              auto candidates =
                  std::make_shared<generators::Simplifications>(generators::simplify(plan, spec));
              return [candidates] { return candidates->next(); };
            },
            [&spec](const Plan& a, const Plan& b) { return generators::simpler(a, b, spec); }};
  };
}

}  // namespace redzone::engine
