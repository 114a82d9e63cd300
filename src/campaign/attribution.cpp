#include "campaign/attribution.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "campaign/variant_runs.h"
#include "core/mode_axes.h"

namespace redzone::campaign {
namespace {

struct Variant {
  std::string axis;
  std::string value;
  Plan plan;
  Reliability failed = {};

  bool always() const { return failed.n > 0 && failed.k == failed.n; }
  bool never() const { return failed.n > 0 && failed.k == 0; }
};

std::vector<Variant> variants_of_axes(const Plan& plan, const Oracle& oracle,
                                      std::span<const ModeAxis> axes) {
  std::vector<Variant> out;
  const auto told = oracle.varies();
  for (const auto& axis : axes) {
    if (axis.has != nullptr && !axis.has(plan)) continue;
    if (std::find(told.begin(), told.end(), axis.name) != told.end()) continue;
    for (const auto& value : std::span(axis.values).first(axis.attributes())) {
      Draft draft(plan);
      value.set(draft);
      out.push_back({std::string(axis.name), value.name, draft.done()});
    }
  }
  return out;
}

// Counts a failure or a pass; runs that could not be judged are not counted.
void count_answer(const Plan& plan, const Answer& answer, const Signature& signature,
                  Reliability& reliability) {
  const Verdict verdict = own_verdict(plan, answer, signature);
  if (verdict.outcome != Outcome::pass && !verdict.failed()) return;
  ++reliability.n;
  if (verdict.failed() && same_bug(verdict.signature, signature)) ++reliability.k;
}

}  // namespace

Runs as_runs(const Plan& plan, std::vector<Answer> answers, const Signature& signature) {
  Runs out{{}, std::move(answers)};
  for (const auto& answer : out.answers) count_answer(plan, answer, signature, out.reliability);
  return out;
}

Runs run_repeatedly(Evaluator& evaluator, const Oracle& oracle, const Plan& plan,
                    const Signature& signature, int n) {
  const std::vector<Question> questions(static_cast<std::size_t>(n), Question{&oracle, plan});
  return as_runs(plan, evaluator.ask(questions), signature);
}

namespace {

// What variants of a plan are judged with.
struct Judges {
  Evaluator& evaluator;
  const oracles::Catalog& catalog;
  const Oracle& oracle;
  const Signature& signature;
};

// Runs each of these variants `times` times, all in one batch so that they run in parallel.
// Replaces the counts of an earlier round.
void run_variants(const Judges& by, std::span<Variant* const> variants, int times) {
  std::vector<const Plan*> plans;
  for (auto* v : variants) {
    v->failed = {};
    plans.insert(plans.end(), static_cast<std::size_t>(times), &v->plan);
  }
  const auto runs = judge_variants(by.evaluator, by.catalog, by.oracle, by.signature, plans);
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const RunResult result = runs[r].result;
    if (result != RunResult::recorded && result != RunResult::pass) continue;
    Reliability& failed = variants[r / static_cast<std::size_t>(times)]->failed;
    ++failed.n;
    if (result == RunResult::recorded) ++failed.k;
  }
}

// Returns each passing value combined with each other launch mode that also fails. A failure that
// needs queued work may have the same signature as one that shows under blocking launches; a value
// that removes one of them then shows nothing about the other.
std::vector<Variant> under_other_launches(const Plan& plan, std::span<const Variant> all) {
  std::vector<Variant> out;
  for (const auto& v : all) {
    if (v.axis == axis::kLaunch || !v.never()) continue;
    for (const auto& launch : all) {
      if (launch.axis != axis::kLaunch || !launch.always()) continue;
      if (launch.plan.mode.launch == plan.mode.launch) continue;
      Variant both = v;
      both.plan.mode.launch = launch.plan.mode.launch;
      both.axis = and_launch(v.axis);
      both.value += ", " + launch.value;
      out.push_back(std::move(both));
    }
  }
  return out;
}

std::vector<Variant*> pointers_to(std::vector<Variant>& all) {
  std::vector<Variant*> out;
  out.reserve(all.size());
  for (auto& v : all) out.push_back(&v);
  return out;
}

}  // namespace

std::vector<AttributionRow> attribute(Evaluator& evaluator, const oracles::Catalog& catalog,
                                      const Oracle& oracle, const Plan& plan,
                                      const Signature& signature,
                                      const AttributionOptions& options) {
  if (oracle.expand(plan, evaluator.spec()).empty()) return {};  // no device, no mode
  const Judges by{evaluator, catalog, oracle, signature};
  std::vector<Variant> all = variants_of_axes(plan, oracle, catalog.axes());
  run_variants(by, pointers_to(all), options.first_runs);
  std::vector<Variant*> passing = pointers_to(all);
  std::erase_if(passing, [](const Variant* v) { return v->failed.k >= v->failed.n; });
  run_variants(by, passing, options.runs);
  std::vector<Variant> launches = under_other_launches(plan, all);
  run_variants(by, pointers_to(launches), options.first_runs);
  std::erase_if(launches, [](const Variant& v) { return v.failed.k == 0; });
  std::move(launches.begin(), launches.end(), std::back_inserter(all));
  std::vector<AttributionRow> rows;
  rows.reserve(all.size());
  for (auto& v : all) rows.push_back({std::move(v.axis), std::move(v.value), v.failed});
  return rows;
}

std::vector<AttributionRow> attribute_load(Evaluator& evaluator, const Oracle& oracle,
                                           const Plan& plan, const Signature& signature, int runs,
                                           int first, std::size_t parallel) {
  AttributionRow alone{std::string(axis::kLoad), std::string(axis::kAlone), {}};
  AttributionRow busy{std::string(axis::kLoad), std::string(axis::kSideBySide), {}};
  const auto add = [&](AttributionRow& row, int copies) {
    const Runs more = run_repeatedly(evaluator, oracle, plan, signature, copies);
    row.failed.k += more.reliability.k;
    row.failed.n += more.reliability.n;
  };
  for (int i = 0; i < first; ++i) add(alone, 1);
  if (first > 0 && alone.failed.k == alone.failed.n) return {};
  while (busy.failed.n < runs) {
    const std::int64_t before = busy.failed.n;
    for (std::size_t i = 0; i < parallel && alone.failed.n < runs; ++i) add(alone, 1);
    add(busy, static_cast<int>(std::min<std::int64_t>(static_cast<std::int64_t>(parallel),
                                                      runs - busy.failed.n)));
    if (busy.failed.n == before) break;  // nothing can be judged any more
  }
  return {alone, busy};
}

}  // namespace redzone::campaign
