// Refines a confirmed finding: reduces its plan, makes its name more specific and measures it. All
// this is one visit, because the measurement shows whether used workers misled the reduction, which
// is then repeated in fresh ones.
#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "campaign/confirmation.h"
#include "campaign/naming.h"
#include "campaign/reduction.h"
#include "campaign/run_judgement.h"

namespace redzone::campaign {
namespace {

class Refinement {
 public:
  Refinement(const Workshop& shop, Case& c, std::chrono::milliseconds reduce_time)
      : shop_(shop),
        case_(c),
        finding_(c.finding),
        evaluator_(shop.evaluator(c.finding.signature.kind == FailKind::hang
                                      ? shop.options.hang_deadline
                                      : shop.options.deadline)),
        reduction_(shop, c, evaluator_, reduce_time) {
    evaluator_.set_grouped(c.grouped);
    evaluator_.set_one_queue(c.one_queue);
    evaluator_.set_will_lose(shop.options.costs_workers(c.finding.signature.kind));
  }

  // Reduces and measures the failing plan, in used workers as long as the measurement in fresh ones
  // agrees. `rename`: the signature may change to a more specific kind that the reduced plan shows.
  Result<void> run(bool rename);

 private:
  // True if used workers show the failure as fresh workers do.
  bool same_in_used_workers(const Shown& shown);
  // Switches to the most specific oracle that fails on the reduced plan.
  void sharpen(Shown& shown);
  // For a failure that depends on the order of calls: true if a call whose outputs differ between
  // the plan's order and its reverse has wrong outputs in the plan's order, false if only in
  // reverse. The correct outputs are those of the call alone. Empty if this cannot be determined.
  std::optional<bool> is_wrong_as_written(const Shown& shown);
  Answer ask_alone(const Plan& plan, const Call& call);
  // Reverses the calls of the plan if only the reverse order shows the failure: anyone who reads or
  // runs the plan as written then sees it.
  void turn_around(Shown& shown);
  // `all`: number of runs of finding.plan that measure it. `fresh`: number of these runs in workers
  // that have not run the target.
  struct Times {
    int all = 0, fresh = 0;
  };
  Times times_to_measure(bool reuse) const;
  // Measures how often finding.plan fails, at the full deadline. Returns false if no run could be
  // judged; the finding is then unchanged. `reuse`: used workers show what fresh ones do, so only
  // some of the runs are in workers that have not run the target, as a check.
  Result<bool> measure(Shown& shown, bool reuse);
  // Stores the reduced plan although time ended before it could be measured: its counts are the one
  // run in which it failed.
  Result<void> keep_unmeasured(const Shown& shown);
  // Restores the unreduced plan of the finding, with its measured `counts`.
  void take_back(const Shown& unreduced, const Reliability& counts, ReductionEnd why);

  const Workshop& shop_;
  Case& case_;
  Finding& finding_;
  Evaluator evaluator_;
  Reduction reduction_;
};

bool Refinement::same_in_used_workers(const Shown& shown) {
  if (!shop_.options.reuse_workers || finding_.needs_history) return false;
  evaluator_.set_reuse(exec::Reuse::any);
  const auto runs = run_repeatedly(evaluator_, *shown.oracle, shown.plan, finding_.signature,
                                   shop_.options.confirm_runs);
  evaluator_.set_reuse(exec::Reuse::none);
  // A failure with a low rate may by chance have shown in each of the first few runs.
  if (finding_.state == FindingState::flaky) return runs.reliability.k > 0;
  return state_of(runs.reliability) == finding_.state;
}

// A small plan shows more than a large one, because it lacks calls that hid each other's effects. A
// failure that was only a wrong number may now prove to depend on earlier calls.
void Refinement::sharpen(Shown& shown) {
  const FailKind kind = shown.answer.verdict.signature.kind;
  if (is_direct(kind) || shop_.options.stopped()) return;  // direct evidence needs no sharper name
  // The dependence on launches was already tested. In relaxed trials such a failure is intermittent
  // and looks like any other difference, so only failures in blocking trials are more specific.
  auto sharper = classify(shop_, evaluator_, {shown.plan}, false, kind == FailKind::async);
  if (!sharper && kind == FailKind::async) sharper = as_order(shop_, evaluator_, shown);
  if (!sharper || !more_specific(sharper->answer.verdict.signature.kind, kind)) return;
  shown = std::move(*sharper);
  finding_.signature = shown.answer.verdict.signature;
  finding_.oracle = std::string(shown.oracle->name());
  reduction_.reduce(shown);
}

// The output digest of a call of the plan in one trial; empty if it has none.
std::optional<std::uint64_t> output_digest(const Observation& o, std::int32_t call,
                                           const std::string& buffer) {
  for (const auto& c : o.calls)
    for (const auto& b : c.buffers)
      if (c.call == call && b.name == buffer) return b.digest;
  return std::nullopt;
}

Answer Refinement::ask_alone(const Plan& plan, const Call& call) {
  Plan alone = plan;
  alone.steps = {CallStep{call}};
  return evaluator_.ask(*shop_.catalog.direct().front(), alone);
}

std::optional<bool> Refinement::is_wrong_as_written(const Shown& shown) {
  const std::string& buffer = shown.answer.verdict.signature.buffer;
  const auto& seen = shown.answer.observations;
  if (seen.size() < 2) return std::nullopt;
  std::optional<bool> wrong;
  std::int32_t number = -1;
  for (const auto* step : calls_of(shown.plan)) {
    ++number;
    const auto written = output_digest(seen[0], number, buffer);
    const auto reversed = output_digest(seen[1], number, buffer);
    if (!written || !reversed || *written == *reversed) continue;
    const Answer answer = ask_alone(shown.plan, step->call);
    if (answer.observations.empty()) continue;
    const auto right = output_digest(answer.observations[0], 0, buffer);
    if (right == reversed) return true;
    if (right == written) wrong = false;
  }
  return wrong;
}

// An order and its reverse are the two trials of one question, so every plan simpler than one order
// passes or fails exactly like its reverse.
void Refinement::turn_around(Shown& shown) {
  const Verdict& verdict = shown.answer.verdict;
  if (verdict.signature.kind != FailKind::history || shop_.options.stopped()) return;
  const auto is_call = [](const Step& step) { return std::holds_alternative<CallStep>(step); };
  if (!std::ranges::all_of(shown.plan.steps, is_call)) return;
  // State that a process keeps from other plans would look like an effect of the order.
  evaluator_.set_reuse(exec::Reuse::none);
  // If this cannot be determined, calls are most likely wrong because of state left by earlier
  // calls, and the first call has no earlier calls.
  const auto wrong = is_wrong_as_written(shown);
  if (wrong.value_or(verdict.call != 0)) return;
  Plan reversed = shown.plan;
  std::ranges::reverse(reversed.steps);
  Answer answer = evaluator_.ask(*shown.oracle, reversed);
  // If both orders are wrong, the reversed plan differs in its first call, too.
  if (!same_failure(answer, verdict.signature) || (!wrong && answer.verdict.call <= 0)) return;
  shown.plan = std::move(reversed);
  shown.answer = std::move(answer);
}

Refinement::Times Refinement::times_to_measure(bool reuse) const {
  const TriageOptions& options = shop_.options;
  const bool always = finding_.reliability.k >= finding_.reliability.n;
  const bool each_costs_a_worker =
      options.costs_workers(finding_.signature.kind) || (options.reuse_workers && !reuse);
  Times times;
  if (finding_.signature.kind == FailKind::hang || options.stopped())
    times.all = options.confirm_runs;
  else if (always)
    times.all = each_costs_a_worker ? std::min(options.final_runs, options.confirm_runs + 1)
                                    : options.final_runs;
  else
    times.all = each_costs_a_worker ? std::min(options.most_runs, 2 * options.final_runs)
                                    : options.most_runs;
  times.fresh =
      !reuse ? times.all : std::min(times.all, always ? options.confirm_runs : options.final_runs);
  return times;
}

Result<bool> Refinement::measure(Shown& shown, bool reuse) {
  const TriageOptions& options = shop_.options;
  evaluator_.set_deadline(options.deadline);
  evaluator_.set_reuse(exec::Reuse::none);
  // A replay of the finding runs with several hardware queues.
  evaluator_.set_one_queue(false);
  const bool slow = finding_.signature.kind == FailKind::hang;
  const auto [times, fresh] = times_to_measure(reuse);
  Runs runs =
      reuse ? run_in_new_workers(shop_, evaluator_, *shown.oracle, finding_.plan,
                                 finding_.signature, fresh)
            : run_repeatedly(evaluator_, *shown.oracle, finding_.plan, finding_.signature, fresh);
  if (runs.reliability.k > 0 && fresh < times) {
    evaluator_.set_reuse(exec::Reuse::any);
    runs +=
        run_repeatedly(evaluator_, *shown.oracle, finding_.plan, finding_.signature, times - fresh);
    evaluator_.set_reuse(exec::Reuse::none);
  }
  if (slow) evaluator_.set_deadline(options.hang_deadline);
  evaluator_.set_one_queue(case_.one_queue);
  if (runs.reliability.n == 0) return false;
  finding_.reliability = runs.reliability;
  finding_.state = state_of(runs.reliability);
  const Answer* failure = first_failure(runs, finding_.signature);
  if (failure == nullptr) return true;
  finding_.signature = failure->verdict.signature;
  finding_.reason = failure->verdict.reason;
  finding_.fault_detail = fault_text(*failure);
  shown.answer = *failure;
  RZ_TRY(shop_.sink.evidence(finding_.id, "final", finding_.plan, *failure));
  return true;
}

Result<void> Refinement::keep_unmeasured(const Shown& shown) {
  finding_.minimal = false;
  if (finding_.reduction.end == ReductionEnd::minimal)
    finding_.reduction.end = ReductionEnd::time;  // time ended before the measurement
  finding_.reliability = {1, 1};
  finding_.signature = shown.answer.verdict.signature;
  finding_.reason = shown.answer.verdict.reason;
  finding_.fault_detail = fault_text(shown.answer);
  return shop_.sink.evidence(finding_.id, "final", finding_.plan, shown.answer);
}

void Refinement::take_back(const Shown& unreduced, const Reliability& counts, ReductionEnd why) {
  case_.shown = unreduced;
  finding_.signature = unreduced.answer.verdict.signature;
  finding_.oracle = std::string(unreduced.oracle->name());
  finding_.plan = unreduced.plan;
  finding_.minimal = false;
  finding_.reduction.end = why;
  finding_.reliability = counts;  // counts of this plan; the counts of another plan do not apply
  finding_.state = state_of(counts);
}

Result<void> Refinement::run(bool rename) {
  Shown& shown = *case_.shown;
  const Shown unreduced = shown;
  Reliability before = finding_.reliability;
  if (!case_.goes_on) finding_.reduction = {};
  bool reuse = reduction_.reduce_between_canaries(shown) || same_in_used_workers(shown);
  for (;;) {
    evaluator_.set_reuse(reuse ? exec::Reuse::any : exec::Reuse::none);
    reduction_.reduce(shown);
    if (rename) sharpen(shown);
    if (reuse && finding_.minimal) reduction_.reduce_in_new_workers(shown);
    turn_around(shown);
    finding_.plan = shown.plan;
    const bool taken_for_sure = finding_.reliability.k >= finding_.reliability.n;
    RZ_TRY_ASSIGN(const auto measured, measure(shown, reuse));
    // The failure was assumed to show always but does not: a lucky pass may have ended the
    // reduction.
    const bool stopped = shop_.options.stopped();
    if (measured && finding_.state == FindingState::flaky && taken_for_sure && !stopped) continue;
    const bool as_it_was = !measured && shown.plan == unreduced.plan;
    if (!measured && !as_it_was && !reuse && taken_for_sure) return keep_unmeasured(shown);
    if (as_it_was || (measured && finding_.state != FindingState::unconfirmed)) return {};
    // The finding was confirmed before. The reduced plan no longer fails, or was not run, so the
    // finding keeps the unreduced plan. If the measured plan is the unreduced plan, its runs count.
    const bool same_question =
        shown.plan == unreduced.plan && finding_.signature == unreduced.answer.verdict.signature;
    if (measured && same_question) before.n += finding_.reliability.n;
    take_back(unreduced, before, measured ? ReductionEnd::taken_back : ReductionEnd::interrupted);
    // State left by other plans may have misled the reduction.
    if (!std::exchange(reuse, false) || stopped) return {};
  }
}

}  // namespace

Result<void> refine(const Workshop& shop, Case& c, std::chrono::milliseconds reduce_time,
                    Naming naming) {
  RZ_TRY(Refinement(shop, c, reduce_time).run(naming == Naming::may_sharpen));
  RZ_TRY_ASSIGN(auto stored, shop.sink.update(c.finding));
  // The finding was merged into another one and is as new as that one.
  if (std::exchange(c.finding.id, stored.id) != stored.id) c.is_new = stored.is_new;
  drop_if_same(c);
  return {};
}

}  // namespace redzone::campaign
