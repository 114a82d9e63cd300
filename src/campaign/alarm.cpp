#include "campaign/alarm.h"

#include "campaign/attribution.h"

namespace redzone::campaign {
namespace {

constexpr int kRuns = 4;

}  // namespace

Result<Finding> measure_suspect(Evaluator& evaluator, const oracles::Catalog& catalog,
                                FindingSink& sink, Finding suspect) {
  const Oracle* oracle = catalog.find(suspect.oracle);
  if (oracle == nullptr) return suspect;
  const Runs runs = run_repeatedly(evaluator, *oracle, suspect.plan, suspect.signature, kRuns);
  if (runs.reliability.k == 0) return suspect;
  suspect.reliability = runs.reliability;
  suspect.state = state_of(runs.reliability);
  RZ_TRY_ASSIGN(const auto stored, sink.update(suspect));
  suspect.id = stored.id;
  return suspect;
}

Result<Finding> record_alarm(Evaluator& evaluator, const oracles::Catalog& catalog,
                             FindingSink& sink, const Alarm& alarm, const Finding& found_in) {
  Finding f;
  f.signature = alarm.verdict.signature;
  f.oracle = alarm.verdict.oracle;
  f.reason = alarm.verdict.reason;
  f.plan = f.original = alarm.plan;
  f.environment = found_in.environment;
  f.campaign = found_in.campaign;
  RZ_TRY_ASSIGN(const auto recorded, sink.record(f));
  f.id = recorded.id;
  return measure_suspect(evaluator, catalog, sink, std::move(f));
}

}  // namespace redzone::campaign
