#include "nightly/tables.h"

#include "bisect/bisect.h"
#include "core/device_traits.h"
#include "engine/probing.h"
#include "engine/stored_runs.h"
#include "report/bisect_table.h"
#include "store/night.h"

namespace redzone::nightly {
namespace {

// A runner that makes no runs and records whether it was called.
class NoRunner final : public bisect::Runner {
 public:
  std::vector<bisect::Counts> run(std::span<const bisect::Request> requests) override {
    asked_ = true;
    return std::vector<bisect::Counts>(requests.size());
  }
  bool asked() const { return asked_; }

 private:
  bool asked_ = false;
};

Result<bisect::Memory> runs_of(store::Store& store, const Finding& f, const std::string& code) {
  for (const auto& hash : {code, f.environment.code_hash}) {
    auto runs = engine::stored_runs(store, {f.id, f.environment.device, hash});
    if (!runs || !runs->empty()) return runs;
  }
  return bisect::Memory{};
}

bisect::Bisection bisection_of(const Finding& f, const TargetEntry& target, bisect::Memory runs) {
  NoRunner runner;
  bisect::ProbeBudget budget;
  // Stop at the first probe that the stored runs do not decide.
  budget.stop = [&] { return runner.asked(); };
  bisect::Prober prober(runner, std::move(budget), std::move(runs));
  bisect::BisectOptions options;
  const auto& device = traits_of_device(f.environment.device);
  auto axes = mode_axes_with(device.execution.seed_decides);
  if (target.immediate) axes = mode_axes_at_once(std::move(axes));
  const oracles::Catalog catalog({}, SanitizerTool::none, {}, std::move(axes));
  options.axes = engine::axes_asked(catalog, f.oracle);
  return bisect::bisect(f.plan, target.spec, prober, options);
}

}  // namespace

Result<std::set<std::string>> add_bisections(report::Night& night, store::Store& store,
                                             const Registry& registry) {
  std::set<std::string> unknown;
  RZ_TRY_ASSIGN(const auto bisected, store::NightBook(store).bisected());
  for (auto& shown : night.findings) {
    if (!bisected.contains(shown.id)) continue;
    RZ_TRY_ASSIGN(const auto finding, store.finding(shown.id));
    const DeviceKind device = traits_of_device(finding.environment.device).kind;
    const TargetEntry* entry = registry.find(finding.signature.target, device);
    if (entry == nullptr) {
      unknown.insert(finding.signature.target);
      continue;
    }
    RZ_TRY_ASSIGN(auto runs, runs_of(store, finding, entry->code_hash));
    if (runs.empty()) continue;
    const auto bisection = bisection_of(finding, *entry, std::move(runs));
    if (bisection.base.answer == bisect::Answer::fails)
      shown.tables.push_back(report::bisection_table(bisection));
  }
  return unknown;
}

}  // namespace redzone::nightly
