#include "cli/night_tables.h"

#include "bisect/bisect.h"
#include "cli/probing.h"
#include "report/bisect_table.h"
#include "store/night.h"

namespace redzone::cli {
namespace {

// Nothing is run: what is not remembered stays undecided.
class NoRunner final : public bisect::Runner {
 public:
  std::vector<bisect::Counts> run(std::span<const bisect::Request> requests) override {
    return std::vector<bisect::Counts>(requests.size());
  }
};

Result<bisect::Memory> runs_of(store::Store& store, const store::Finding& finding,
                               const std::string& device, const std::string& code) {
  for (const auto& hash : {code, finding.environment.code_hash}) {
    auto runs = stored_runs(store, {finding.id, device, hash});
    if (!runs || !runs->empty()) return runs;
  }
  return bisect::Memory{};
}

}  // namespace

Result<void> add_bisections(report::Night& night, store::Store& store, const Session& session) {
  const auto bisected = store::NightBook(store).bisected();
  if (!bisected) return tl::unexpected(bisected.error());
  for (auto& shown : night.findings) {
    if (!bisected->contains(shown.id)) continue;
    const auto finding = store.finding(shown.id);
    if (!finding) return tl::unexpected(finding.error());
    const TargetEntry* entry = session.registry().find(finding->signature.target, session.device());
    if (entry == nullptr) continue;
    auto runs = runs_of(store, *finding, session.hello().device, entry->code_hash);
    if (!runs) return tl::unexpected(runs.error());
    if (runs->empty()) continue;
    NoRunner runner;
    bisect::ProbeBudget budget;
    budget.runs = 0;
    bisect::Prober prober(runner, std::move(budget), std::move(*runs));
    bisect::BisectOptions options;
    options.axes = {session.triage_options().schedules, finding->signature.kind};
    const auto bisection = bisect::bisect(finding->plan, entry->spec, prober, options);
    if (bisection.base.answer == bisect::Answer::fails)
      shown.tables.push_back(report::bisection_table(bisection));
  }
  return {};
}

}  // namespace redzone::cli
