#include "campaign/alarm.h"

#include "campaign/attribution.h"

namespace redzone::campaign {
namespace {

constexpr int kRuns = 4;

}  // namespace

Result<store::Finding> record_alarm(Evaluator& evaluator, const oracles::Catalog& catalog,
                                    FindingSink& sink, const Alarm& alarm,
                                    const store::Finding& found_in) {
  store::Finding f;
  f.signature = alarm.verdict.signature;
  f.oracle = alarm.verdict.oracle;
  f.reason = alarm.verdict.reason;
  f.plan = f.original = alarm.plan;
  f.environment = found_in.environment;
  f.campaign = found_in.campaign;
  auto recorded = sink.record(f);
  if (!recorded) return tl::unexpected(recorded.error());
  f.id = recorded->id;
  const Oracle* oracle = catalog.find(f.oracle);
  if (oracle == nullptr) return f;
  const Runs runs = run_repeatedly(evaluator, *oracle, f.plan, f.signature, kRuns);
  f.reliability = runs.reliability;
  if (f.reliability.k == 0) return f;  // stays a suspect, which the next night replays
  f.state = state_of(f.reliability);
  recorded = sink.update(f);
  if (!recorded) return tl::unexpected(recorded.error());
  f.id = recorded->id;
  return f;
}

}  // namespace redzone::campaign
