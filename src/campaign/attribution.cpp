#include "campaign/attribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/plan_text.h"
#include "oracles/axes.h"

namespace redzone::campaign {
namespace {

struct Variant {
  FailKind varied_by;  // the oracle of this kind varies the axis itself
  std::string axis;
  std::string value;
  Plan plan;
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

void count(const Answer& answer, const Signature& signature, store::Reliability& reliability) {
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

std::vector<store::AttributionRow> attribute(Evaluator& evaluator, const Oracle& oracle,
                                             const Plan& plan, const Signature& signature,
                                             const AttributionOptions& options) {
  std::vector<store::AttributionRow> rows;
  if (oracle.expand(plan, evaluator.spec()).empty()) return rows;  // no device, no mode
  std::vector<Plan> plans;
  for (auto& v : variants(plan, options.schedules)) {
    if (v.varied_by == signature.kind) continue;
    rows.push_back({v.axis, v.value, {}});
    plans.push_back(std::move(v.plan));
  }
  // All at once, so that they run side by side. Counts of an earlier round are replaced.
  const auto run = [&](const std::vector<std::size_t>& which, int times) {
    std::vector<Question> questions;
    for (const auto i : which) {
      rows[i].failed = {};
      questions.insert(questions.end(), static_cast<std::size_t>(times),
                       Question{&oracle, plans[i]});
    }
    const auto answers = evaluator.ask(questions);
    for (std::size_t a = 0; a < answers.size(); ++a)
      count(answers[a], signature, rows[which[a / static_cast<std::size_t>(times)]].failed);
  };
  std::vector<std::size_t> all(rows.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  run(all, options.first_runs);
  std::vector<std::size_t> passing;
  for (const auto i : all)
    if (rows[i].failed.k < rows[i].failed.n) passing.push_back(i);
  run(passing, options.runs);
  return rows;
}

std::vector<store::AttributionRow> attribute_load(Evaluator& evaluator, const Oracle& oracle,
                                                  const Plan& plan, const Signature& signature,
                                                  int runs, int first, std::size_t parallel) {
  store::AttributionRow alone{"load", "alone", {}}, busy{"load", "side by side", {}};
  const auto add = [&](store::AttributionRow& row, int copies) {
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
