#include "campaign/attribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "core/plan_text.h"
#include "oracles/axes.h"

namespace redzone::campaign {
namespace {

struct Variant {
  FailKind varied_by;  // the oracle of this kind varies the axis itself
  std::string axis;
  std::string value;
  Plan plan;
  Reliability failed = {};

  bool always() const { return failed.n > 0 && failed.k == failed.n; }
  bool never() const { return failed.n > 0 && failed.k == 0; }
};

std::vector<Variant> variants(const Plan& plan, bool schedules) {
  std::vector<Variant> out;
  const auto add = [&](FailKind by, std::string axis, std::string value, auto change) {
    Plan p = plan;
    change(p.mode);
    out.push_back({by, std::move(axis), std::move(value), std::move(p)});
  };
  for (auto v : {Launch::blocking, Launch::async, Launch::gated})
    add(FailKind::async, "launch", std::string(name_of(v)), [v](Mode& m) { m.launch = v; });
  for (auto v : {Placement::tail, Placement::head})
    add(FailKind::placement, "placement", std::string(name_of(v)),
        [v](Mode& m) { m.placement = v; });
  for (auto v : {Allocator::guard, Allocator::caching, Allocator::pool})
    add(FailKind::allocation, "allocator", std::string(name_of(v)),
        [v](Mode& m) { m = v == m.allocator ? m : with_allocator(m, v); });
  for (auto v : {oracles::kNanPoison, oracles::kFinitePoison})
    add(FailKind::uninitialized, "poison", fmt::format("0x{:08x}", v),
        [v](Mode& m) { m.poison = v; });
  if (has_graphs(plan)) {
    add(FailKind::graph, "graph", "replayed", [](Mode&) {});
    add(FailKind::graph, "graph", "plain calls", [](Mode&) {});
    out.back().plan = with_plain_graphs(plan);
  }
  if (!schedules) return out;
  for (std::uint64_t v : {0, 1, 2})
    add(FailKind::schedule, "schedule", fmt::format("{}", v),
        [v](Mode& m) { m.schedule_seed = v; });
  return out;
}

void count(const Answer& answer, const Signature& signature, Reliability& reliability) {
  // What could not be judged is neither a failure nor a pass.
  if (answer.verdict.outcome != Outcome::pass && !answer.verdict.failed()) return;
  ++reliability.n;
  if (answer.verdict.failed() && same_bug(answer.verdict.signature, signature)) ++reliability.k;
}

}  // namespace

Runs run_repeatedly(Evaluator& evaluator, const Oracle& oracle, const Plan& plan,
                    const Signature& signature, int n) {
  const std::vector<Question> questions(static_cast<std::size_t>(n), Question{&oracle, plan});
  Runs out;
  out.answers = evaluator.ask(questions);
  for (const auto& answer : out.answers) count(answer, signature, out.reliability);
  return out;
}

namespace {

// Asks about each of these variants `times` times; all at once, so that they run side by side.
// Counts of an earlier round are replaced.
void run_variants(Evaluator& evaluator, const Oracle& oracle, const Signature& signature,
                  std::span<Variant* const> variants, int times) {
  std::vector<Question> questions;
  for (auto* v : variants) {
    v->failed = {};
    questions.insert(questions.end(), static_cast<std::size_t>(times), Question{&oracle, v->plan});
  }
  const auto answers = evaluator.ask(questions);
  for (std::size_t a = 0; a < answers.size(); ++a)
    count(answers[a], signature, variants[a / static_cast<std::size_t>(times)]->failed);
}

// What passes, under each other launch that fails as the plan does: a failure that needs queued
// work may look like one that shows under blocking launches, too, and then a value that ends the
// one says nothing of the other.
std::vector<Variant> under_other_launches(const Plan& plan, std::span<const Variant> all) {
  std::vector<Variant> out;
  for (const auto& v : all) {
    if (v.axis == "launch" || !v.never()) continue;
    for (const auto& launch : all) {
      if (launch.axis != "launch" || !launch.always()) continue;
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
  for (auto& v : all) out.push_back(&v);
  return out;
}

}  // namespace

std::vector<AttributionRow> attribute(Evaluator& evaluator, const Oracle& oracle, const Plan& plan,
                                      const Signature& signature,
                                      const AttributionOptions& options) {
  if (oracle.expand(plan, evaluator.spec()).empty()) return {};  // no device, no mode
  std::vector<Variant> all = variants(plan, options.schedules);
  std::erase_if(all, [&](const Variant& v) { return v.varied_by == signature.kind; });
  run_variants(evaluator, oracle, signature, pointers_to(all), options.first_runs);
  std::vector<Variant*> passing = pointers_to(all);
  std::erase_if(passing, [](const Variant* v) { return v->failed.k >= v->failed.n; });
  run_variants(evaluator, oracle, signature, passing, options.runs);
  std::vector<Variant> launches = under_other_launches(plan, all);
  run_variants(evaluator, oracle, signature, pointers_to(launches), options.first_runs);
  std::erase_if(launches, [](const Variant& v) { return v.failed.k == 0; });
  std::move(launches.begin(), launches.end(), std::back_inserter(all));
  std::vector<AttributionRow> rows;
  for (auto& v : all) rows.push_back({std::move(v.axis), std::move(v.value), v.failed});
  return rows;
}

std::vector<AttributionRow> attribute_load(Evaluator& evaluator, const Oracle& oracle,
                                           const Plan& plan, const Signature& signature, int runs,
                                           int first, std::size_t parallel) {
  AttributionRow alone{"load", "alone", {}}, busy{"load", "side by side", {}};
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
