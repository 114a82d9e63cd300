#include "campaign/attribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/plan_text.h"
#include "oracles/axes.h"
#include "statistics/interval.h"

namespace redzone::campaign {
namespace {

struct Variant {
  FailKind varied_by;  // the oracle of this kind varies the axis itself
  std::string axis;
  std::string value;
  Plan plan;
};

std::vector<Variant> variants(const Plan& plan) {
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

Runs run_until_known(Evaluator& evaluator, const Oracle& oracle, const Plan& plan,
                     const Signature& signature, int n, int most) {
  Runs out = run_repeatedly(evaluator, oracle, plan, signature, n);
  const auto known = [&] {
    const auto& r = out.reliability;
    if (r.k == r.n) return true;  // none among them where none could be judged
    const double seen = static_cast<double>(r.k) / static_cast<double>(r.n);
    return r.k > 0 && statistics::exact_interval(r.k, r.n, 0.9).low >= seen / 2;
  };
  while (!known() && static_cast<int>(out.answers.size()) < most) {
    const int room = most - static_cast<int>(out.answers.size());
    Runs more =
        run_repeatedly(evaluator, oracle, plan, signature,
                       std::min(std::max(n, static_cast<int>(out.answers.size()) / 2), room));
    if (more.reliability.n == 0) break;  // interrupted
    out.reliability.k += more.reliability.k;
    out.reliability.n += more.reliability.n;
    std::move(more.answers.begin(), more.answers.end(), std::back_inserter(out.answers));
  }
  return out;
}

std::vector<store::AttributionRow> attribute(Evaluator& evaluator, const Oracle& oracle,
                                             const Plan& plan, const Signature& signature,
                                             int runs) {
  std::vector<store::AttributionRow> rows;
  if (oracle.expand(plan, evaluator.spec()).empty()) return rows;  // no device, no mode
  std::vector<Question> questions;  // all at once, so that they run side by side
  for (const auto& v : variants(plan)) {
    if (v.varied_by == signature.kind) continue;
    rows.push_back({v.axis, v.value, {}});
    questions.insert(questions.end(), static_cast<std::size_t>(runs), Question{&oracle, v.plan});
  }
  const auto answers = evaluator.ask(questions);
  for (std::size_t i = 0; i < answers.size(); ++i)
    count(answers[i], signature, rows[i / static_cast<std::size_t>(runs)].failed);
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
  if (alone.failed.k == alone.failed.n) return {};
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
