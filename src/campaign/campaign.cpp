#include "campaign/campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "campaign/naming.h"
#include "campaign/refused.h"
#include "campaign/target_state.h"
#include "core/log.h"
#include "core/spec_mistake.h"
#include "oracles/checks.h"

namespace redzone::campaign {
namespace {

constexpr std::chrono::milliseconds kProgressInterval{500};
constexpr std::chrono::milliseconds kWait{100};  // for a result
constexpr std::chrono::milliseconds kLook{10};   // if another event may happen meanwhile
constexpr std::chrono::seconds kMostReachTime{1};
// The first look at all targets ends after this share of the time.
constexpr double kFirstLookShare = 0.25;

// Counts one more plan that got no verdict.
void add_unjudged(std::vector<Unjudged>& all, const std::string& target, const Verdict& verdict) {
  const auto find = [&](const std::string& reason) {
    return std::find_if(all.begin(), all.end(), [&](const Unjudged& u) {
      return u.target == target && u.outcome == verdict.outcome && u.reason == reason &&
             !u.spec_error;
    });
  };
  std::string reason = verdict.reason;
  auto it = find(reason);
  if (it == all.end() && all.size() >= kMostReasons) it = find(reason = "");
  if (it == all.end()) it = all.insert(it, {target, verdict.outcome, std::move(reason), 0});
  ++it->plans;
}

void add_spec_error(std::vector<Unjudged>& all, const std::string& target,
                    std::string_view function, const std::string& what) {
  auto it = std::find_if(all.begin(), all.end(), [&](const Unjudged& u) {
    return u.spec_error && u.target == target && u.reason.starts_with(function);
  });
  if (it == all.end()) it = all.insert(it, {target, Outcome::harness_error, what, 0, true});
  ++it->plans;
}

// Number of calls of a trial, repeats and replays included. If the target refused a call, counts
// the calls up to and including the refused one.
std::uint64_t calls_made(const Plan& plan, const TrialSpec& trial, const Observation& o) {
  if (o.end == End::unsupported) return o.calls.size();
  if (!trial.order.empty()) return trial.order.size();
  return static_cast<std::uint64_t>(call_count(plan));
}

// Merges a new canary finding into a new fault finding if both are the same write out of bounds
// (see as_fault()). Faults found before this campaign are not considered: such a finding may be
// marked by a user, or may be of another write that was fixed since.
Result<void> merge_canaries(CampaignResult& result, FindingSink& sink,
                            const CampaignOptions& options) {
  const std::vector<Finding> all = result.findings;
  const auto is_new = [&](const Finding& f) {
    return std::find(result.new_ids.begin(), result.new_ids.end(), f.id) != result.new_ids.end();
  };
  for (const Finding& canary : all) {
    if (!is_new(canary)) continue;
    const auto fault = std::find_if(all.begin(), all.end(), [&](const Finding& f) {
      return is_new(f) && was_found(f.state) && is_fault_of(f.signature, canary.signature);
    });
    if (fault == all.end()) continue;
    log::info("finding {}: is the write of finding {}", canary.id, fault->id);
    Finding merged = *fault;
    merged.id = canary.id;
    RZ_TRY(sink.update(merged));
    std::erase_if(result.findings, [&](const Finding& f) { return f.id == canary.id; });
    std::erase(result.new_ids, canary.id);
    --result.stats.new_findings;
    if (options.merged) options.merged(canary.id, fault->id);
  }
  return {};
}

}  // namespace

Campaign::Campaign(exec::Executor& executor, const oracles::Catalog& catalog, SimplifyFor simplify,
                   FindingSink& sink, std::vector<TargetUnderTest> targets, CampaignOptions options)
    : executor_(executor),
      catalog_(catalog),
      sink_(sink),
      options_(std::move(options)),
      simplify_(std::move(simplify)),
      tasks_(executor, options_.triage.together) {
  options_.triage.deadline = options_.deadline;
  // In a long campaign, the reduction of a finding may use its share of the target's time.
  if (options_.time.count() > 0)
    options_.triage.reduce_time = std::max(
        options_.triage.reduce_time,
        options_.time / (4 * std::max<std::int64_t>(1, static_cast<std::int64_t>(targets.size()))));
  for (auto& target : targets)
    targets_.emplace_back(std::move(target), targets_.size(), options_.preparer,
                          most_reference_time());
}

Campaign::~Campaign() = default;

std::chrono::milliseconds Campaign::most_reference_time() const {
  const auto most = options_.deadline * exec::kReferenceDeadlines;
  return options_.time.count() > 0 ? std::min(most, options_.time / 2) : most;
}

double Campaign::elapsed_seconds() const {
  return std::chrono::duration<double>(now() - started_).count();
}

bool Campaign::time_is_up() const {
  return options_.time.count() > 0 && now() - started_ >= options_.time;
}

bool Campaign::is_overdue() const {
  return options_.time.count() > 0 && now() - started_ >= options_.time + options_.deadline;
}

bool Campaign::called_off(const TargetState& target) const {
  return stopped() || target.quarantined;
}

bool Campaign::is_over_for(const TargetState& target) const {
  return target.quarantined || is_over();
}

bool Campaign::no_more_calls() {
  if (!stop_seen_ && (stopped() || found_enough())) stop_seen_ = now();
  return is_overdue() || (stop_seen_ && now() >= *stop_seen_ + options_.deadline);
}

void Campaign::ask_quarantine() {
  if (!options_.quarantined ||
      (quarantine_asked_ && now() - *quarantine_asked_ < kProgressInterval))
    return;
  quarantine_asked_ = now();
  for (auto& target : targets_) target.quarantined = options_.quarantined(target.stats.target);
}

Result<CampaignResult> Campaign::run() {
  started_ = last_progress_ = now();
  lost_before_ = executor_.stats().workers_lost;
  first_look_ = has_turns();
  log::info("campaign {} begins: {} targets", options_.id, targets_.size());
  const SpecCalls::Until last(options_.spec_calls, [this] { return no_more_calls(); });
  std::vector<SpecFunctionTime> before;
  if (options_.spec_calls != nullptr) before = options_.spec_calls->times();
  look_at_reach();
  while (!is_over()) {
    ask_quarantine();
    prepare_ahead();
    if (!tasks_.want_quiet()) top_up();
    for (auto& [target, s] : std::exchange(deferred_suspects_, {}))
      RZ_TRY(suspect(targets_[target], std::move(s)));
    start_visits();
    tasks_.advance();
    if (lost_) return tl::unexpected(*lost_);
    RZ_TRY(report_progress(false));
    if (elapsed_seconds() >= kFirstLookShare * seconds_in_all()) first_look_ = false;
    if (hangs_are_due()) release_hangs();
    confirm_hang_early();
    const bool waits = is_preparing();
    if (executor_.in_flight() > 0 || tasks_.size() > 0) {
      executor_.poll(waits ? kLook : kWait);
      while (auto done = executor_.next(std::chrono::milliseconds(0)))
        RZ_TRY(finish(std::move(*done)));
      continue;
    }
    if (next_target() != nullptr || target_to_triage() != nullptr || !deferred_suspects_.empty())
      continue;
    // The first look must not idle because of a target whose plans are not prepared.
    if (std::exchange(first_look_, false)) continue;
    if (waits) {
      options_.preparer->wait(kLook);
      continue;
    }
    if (hangs_.empty()) break;
    release_hangs();
  }
  log::info("campaign {}: no more plans after {:.1f} s: {}; {} cases are in triage", options_.id,
            elapsed_seconds(),
            stopped()        ? "it is interrupted"
            : time_is_up()   ? "its time is up"
            : found_enough() ? "it has found enough"
                             : "there is nothing left to do",
            tasks_.size());
  if (options_.preparer != nullptr) options_.preparer->stop();
  RZ_TRY(wind_down());
  RZ_TRY(record_rest());
  if (options_.spec_calls != nullptr)
    result_.slow_functions =
        slow_functions(before, options_.spec_calls->times(),
                       std::chrono::duration_cast<std::chrono::microseconds>(now() - started_));
  RZ_TRY(report_progress(true));  // counts the plans seen for each finding
  RZ_TRY(merge_canaries(result_, sink_, options_));
  log::info("campaign {} ends: {} plans, {} trials, {} suspects, {} new and {} known findings",
            options_.id, result_.stats.plans, result_.stats.trials, result_.stats.suspects,
            result_.stats.new_findings, result_.stats.known_findings);
  return result_;
}

Result<void> Campaign::record_rest() {
  while (auto done = executor_.next(std::chrono::milliseconds(0))) RZ_TRY(finish(std::move(*done)));
  for (auto& [target, s] : std::exchange(deferred_suspects_, {}))
    RZ_TRY(suspect(targets_[target], std::move(s)));
  for (auto& target : targets_)
    std::move(target.waiting.begin(), target.waiting.end(), std::back_inserter(hangs_));
  for (auto& w : hangs_)
    if (find_listed(w.triaged.finding.id) == result_.findings.end())
      result_.findings.push_back(std::move(w.triaged.finding));
  result_.stopped = stopped();
  result_.targets = target_stats();
  result_.stats.seconds = elapsed_seconds();
  result_.stats.workers_lost = executor_.stats().workers_lost - lost_before_;
  for (auto& target : targets_)
    for (auto& [key, known] : target.groups)
      if (std::exchange(known.held, std::nullopt)) ++known.unreported;
  return {};
}

Result<void> Campaign::wind_down() {
  tasks_.submit_no_more();
  for (;;) {
    tasks_.advance();
    if (lost_) return tl::unexpected(*lost_);
    if (tasks_.size() == 0) return {};
    RZ_TRY(report_progress(false));
    executor_.poll(kLook);
  }
}

void Campaign::look_at_reach() {
  for (auto& target : targets_) {
    const auto until = std::chrono::steady_clock::now() + kMostReachTime;
    const SpecCalls::Until limit(options_.spec_calls, [this, until] {
      return is_over() || std::chrono::steady_clock::now() >= until;
    });
    try {
      target.stats.out_of_reach = target.plans.out_of_reach();
    } catch (const SpecCallsEnded&) {
    }
  }
}

void Campaign::top_up() {
  const SpecCalls::Until end(options_.spec_calls, [this] { return is_over(); });
  while (executor_.in_flight() < executor_.max_in_flight() && deferred_suspects_.empty()) {
    TargetState* target = next_target();
    if (target == nullptr) return;
    target->spent_us += 1;  // rotates the targets before the first results are in
    const auto begun = now();
    try {
      submit_next(*target);
    } catch (const SpecCallsEnded&) {
      return;  // the plan is dropped as if it had never been started
    } catch (const SpecMistake& e) {
      // Another plan or another target may work: charge this target for the time. Return instead of
      // retrying at once, because no trial was submitted that would let time pass.
      target->spend(now() - begun);
      count_spec_error(*target, e.whose(), e.what());
      return;
    }
  }
}

std::optional<Campaign::Pending> Campaign::make_pending(TargetState& target) {
  const bool without_pages = target.next_between_canaries();
  ++target.generated;
  Plan plan = target.plans.next();
  const bool between_canaries = without_pages && plan.mode.allocator == Allocator::guard;
  const TargetSpec& spec = *target.under_test.spec;
  // Called here, so that a mistake is attributed to its function; in a worker it would look like a
  // failure of the target.
  try_functions(spec, plan);
  Verdict verdict = catalog_.device_free().judge(plan, spec, {});
  if (verdict.failed()) {
    count(target, verdict);
    deferred_suspects_.push_back({target.index, {std::move(plan), std::move(verdict), {}, {}, 0}});
    return std::nullopt;
  }
  leave_out_hung(target, plan);
  Pending pending = pending_for(target, std::move(plan));
  if (between_canaries) set_between_canaries(pending);
  return pending;
}

Campaign::Pending Campaign::pending_for(TargetState& target, Plan plan) {
  Pending pending{.target = target.index, .plan = std::move(plan), .trials = {}, .references = {}};
  pending.trials = catalog_.screen().expand(pending.plan, *target.under_test.spec);
  pending.references =
      target.references.reserve(pending.plan, *target.under_test.spec, pending.trials);
  return pending;
}

void Campaign::set_between_canaries(Pending& plan) const {
  plan.between_canaries = true;
  for (auto& trial : plan.trials) trial.wide_canaries = true;
  plan.will_lose = targets_[plan.target].losses(true).many();
}

void Campaign::note_fault(TargetState& target) {
  if (!options_.triage.reuse_workers || !target.has_lost_workers()) return;
  if (std::exchange(target.fault_is_known, true)) return;
  bool first = true;
  for (auto& plan : target.deferred) {
    if (!plan.will_lose || plan.plan.mode.allocator != Allocator::guard) continue;
    if (!std::exchange(first, false)) set_between_canaries(plan);
  }
}

void Campaign::screen_again(TargetState& target, Plan plan) {
  target.note_slow();
  try {
    target.deferred.push_back(pending_for(target, std::move(plan)));
    target.deferred.back().again = true;
  } catch (const SpecCallsEnded&) {  // no time is left for the plan
  }
}

bool Campaign::screen_the_rest(TargetState& target, const Pending& pending,
                               std::span<const Observation> seen) {
  if (is_over()) return false;
  auto accepted =
      without_refused_calls(pending.plan, *target.under_test.spec, pending.trials, seen);
  if (!accepted) return false;
  try {
    target.deferred.push_back(pending_for(target, std::move(accepted->plan)));
  } catch (const SpecMistake&) {  // the original plan is judged instead
    return false;
  }
  Pending& rest = target.deferred.back();
  rest.again = pending.again;
  if (pending.between_canaries) set_between_canaries(rest);
  target.stats.refused_calls += accepted->refused;
  if (target.stats.why_refused.empty()) target.stats.why_refused = accepted->why;
  return true;
}

// If the screen leaves room, it has a single worker. There, references that take seconds would
// delay every target, and a fault would lose everything that the worker has mapped and loaded for
// other targets. So a plan with such a reference or a probable fault runs in a used worker instead,
// but only a few at a time; further ones are deferred, even if the screen's worker is idle just
// now, and other plans of the target go on. Such plans run in the screen's worker only if there is
// no room for them in used workers and no other target has plans left.
void Campaign::submit_next(TargetState& target) {
  std::optional<Pending> pending;
  if (const auto next = to_resume(target); next != target.deferred.end()) {
    pending = std::move(*next);
    target.deferred.erase(next);
  } else {
    pending = make_pending(target);
  }
  if (!pending) return;
  pending->will_lose = target.losses(pending->between_canaries).many();
  const bool apart = goes_apart(*pending);
  const bool aside = apart && room_aside(pending->will_lose);
  if (apart && !aside && !is_alone(target)) {
    target.deferred.push_back(std::move(*pending));
    return;
  }
  const auto id = next_job_++;
  exec::Job job{.id = id,
                .plan = pending->plan,
                .trials = pending->trials,
                .deadline = options_.deadline,
                .reuse = aside ? exec::Reuse::any : exec::Reuse::none,
                .will_lose = pending->will_lose,
                .end_at_loss = true,
                .back_at_loss = options_.screen_leaves_room,
                .one_queue = aside && pending->will_lose && !has_streams(pending->plan),
                .call_deadline = call_deadline(target, *pending)};
  pending->aside = aside;
  pending->submitted = now();
  if (!aside) ++target.in_warm_worker;
  pending_.emplace(id, std::move(*pending));
  if (aside)
    screen_aside(target, std::move(job));
  else
    executor_.submit(std::move(job));
}

void Campaign::screen_aside(TargetState& target, exec::Job job) {
  const bool will_lose = pending_.at(job.id).will_lose;
  std::size_t& aside = will_lose ? aside_losing_ : aside_long_;
  ++aside;
  const auto done = std::make_shared<std::vector<exec::JobResult>>();
  const auto is_over = [this, &target] { return is_over_for(target); };
  Tasks::Task task;
  task.body = [job, done, is_over](exec::Runner& runner) {
    *done = runner.run_fresh(std::span(&job, 1), {is_over});
  };
  task.rank = [this, &target, will_lose, id = job.id] {
    return will_lose
               ? rank_of_losing(target, id)
               : Tasks::Rank{
                     .stage = static_cast<int>(Station::refine), .due = had(target), .order = id};
  };
  if (will_lose)
    task.ran = [this, &target](auto jobs, auto results) {
      target.lost_in_triage += results.size();
      target.lost_in_triage_took += cost_of(jobs, results);
    };
  task.ended = [this, done, is_over, &aside] {
    --aside;
    // Did not finish in time, so it counts as not run.
    if (is_over()) return;
    if (auto r = finish(std::move(done->front())); !r) lost_ = r.error();
  };
  tasks_.add(std::move(task));
}

void Campaign::count_spec_error(TargetState& target, std::string_view function,
                                const std::string& what) {
  add_spec_error(result_.unjudged, target.stats.target, function, what);
  if (target.stats.spec_error.empty()) log::info("{}: {}", target.stats.target, what);
  if (target.stats.spec_error.empty()) target.stats.spec_error = what;
  for (auto* plans : {&target.stats.plans, &result_.stats.plans, &target.stats.harness_errors,
                      &result_.stats.harness_errors})
    ++*plans;
}

void Campaign::count(TargetState& target, const Verdict& verdict) {
  if (verdict.outcome != Outcome::pass && !verdict.failed())
    add_unjudged(result_.unjudged, target.stats.target, verdict);
  target.stats.reference += verdict.reference;
  result_.stats.reference += verdict.reference;
  ++target.stats.plans;
  ++result_.stats.plans;
  const auto add = [&](std::uint64_t TargetCounts::*of_target, std::uint64_t& of_all) {
    ++(target.stats.*of_target);
    ++of_all;
  };
  auto& s = result_.stats;
  switch (verdict.outcome) {
    case Outcome::pass:
      return add(&TargetCounts::pass, s.pass);
    case Outcome::fail:
      return add(&TargetCounts::fail, s.fail);
    case Outcome::inconclusive:
      return add(&TargetCounts::inconclusive, s.inconclusive);
    case Outcome::not_applicable:
      return add(&TargetCounts::not_applicable, s.not_applicable);
    case Outcome::harness_error:
      return add(&TargetCounts::harness_errors, s.harness_errors);
  }
}

Verdict Campaign::as_counted(const Verdict& verdict, std::span<const Observation> observations) {
  if (verdict.outcome != Outcome::pass || !oracles::launched_nothing(observations)) return verdict;
  Verdict out = verdict;
  out.outcome = Outcome::not_applicable;
  out.reason = "its calls launch nothing";
  return out;
}

Result<void> Campaign::finish(exec::JobResult result) {
  auto node = pending_.extract(result.id);
  RZ_CHECK(!node.empty());
  TargetState& target = targets_[node.mapped().target];
  if (!node.mapped().aside) --target.in_warm_worker;
  if (result.observations.empty() && !node.mapped().trials.empty()) {
    target.deferred.push_back(std::move(node.mapped()));
    return {};
  }
  try {
    return judge(target, std::move(node.mapped()), std::move(result));
  } catch (const SpecCallsEnded&) {
    return {};
  }
}

Result<void> Campaign::judge(TargetState& target, Pending pending, exec::JobResult result) {
  target.spent_us += static_cast<double>(options_.worker_cost.count() *
                                         static_cast<std::int64_t>(result.lost_workers)) *
                     1000;
  for (std::size_t t = 0; t < result.observations.size(); ++t) {
    const auto& o = result.observations[t];
    target.spent_us += static_cast<double>(o.wall_us);
    target.stats.device_seconds += static_cast<double>(o.wall_us) * 1e-6;
    const std::uint64_t calls = calls_made(pending.plan, pending.trials[t], o);
    result_.stats.calls += calls;
    target.stats.calls += calls;
    if (o.own_memory) target.stats.own_memory += *o.own_memory;
    if (o.sanitizer) target.stats.warnings.add(*o.sanitizer);
  }
  TargetState::Losses& losses =
      pending.between_canaries ? target.between_canaries : target.between_pages;
  ++losses.plans;
  losses.losses += result.lost_workers > 0 ? 1 : 0;
  note_slowness(target, result);
  note_calls(target, pending, result.observations);
  target.references.settle(pending.references, result.observations);
  result_.stats.trials += result.observations.size();
  Verdict verdict =
      catalog_.screen().judge(pending.plan, *target.under_test.spec, result.observations);
  const auto mistake = std::find_if(result.observations.begin(), result.observations.end(),
                                    [](const Observation& o) { return o.end == End::spec_error; });
  if (verdict.outcome == Outcome::harness_error && mistake != result.observations.end()) {
    // The rest of the message may be worker output, which differs between workers.
    const std::string& what = mistake->message;
    count_spec_error(target, std::string_view(what).substr(0, what.find('\n')), what);
    return {};
  }
  if (verdict.outcome == Outcome::not_applicable &&
      screen_the_rest(target, pending, result.observations))
    return {};
  target.stats.between_canaries += pending.between_canaries ? 1 : 0;
  count(target, as_counted(verdict, result.observations));
  if (verdict.reference.compared < verdict.reference.calls && target.stats.not_compared.empty())
    target.stats.not_compared =
        oracles::why_not_compared(pending.plan, pending.trials, result.observations);
  const OutputCount outputs = oracles::judged_outputs(*target.under_test.spec, result.observations);
  target.stats.outputs += outputs;
  if (outputs.by_nothing > 0 && target.stats.not_judged.empty())
    target.stats.not_judged =
        oracles::why_outputs_not_judged(*target.under_test.spec, result.observations);
  if (!verdict.failed()) {
    try_order(target, pending, result.observations);
    return {};
  }
  return suspect(target, {std::move(pending.plan), std::move(verdict), std::move(pending.trials),
                          std::move(result.log), result.log_size});
}

double Campaign::seconds_in_all() const {
  return std::chrono::duration<double>(options_.time).count();
}

Result<void> Campaign::report_progress(bool force) {
  if (!force && now() - last_progress_ < kProgressInterval) return {};
  for (auto& target : targets_)
    for (auto& [key, known] : target.groups)
      if (const auto plans = std::exchange(known.unreported, 0); plans > 0)
        RZ_TRY(sink_.sighted(known.finding, plans));
  tell_progress();
  return {};
}

std::vector<TargetStats> Campaign::target_stats() const {
  std::vector<TargetStats> all;
  for (const auto& target : targets_) all.push_back(target.stats);
  return all;
}

void Campaign::tell_progress() {
  last_progress_ = now();
  if (!options_.progress) return;
  result_.stats.seconds = elapsed_seconds();
  result_.stats.workers_lost = executor_.stats().workers_lost - lost_before_;
  for (auto& target : targets_)
    for (auto& [key, known] : target.groups)
      if (std::exchange(known.held, std::nullopt)) ++known.unreported;
  Progress p{result_.stats, -1, {}, target_stats()};
  if (options_.time.count() > 0)
    p.seconds_left =
        std::max(0.0, std::chrono::duration<double>(options_.time).count() - result_.stats.seconds);
  if (options_.plans_per_target > 0) {
    std::uint64_t left = 0;
    for (const auto& target : targets_) {
      const std::uint64_t done = target.under_test.plans_before + target.stats.plans;
      left += options_.plans_per_target - std::min(options_.plans_per_target, done);
    }
    p.plans_left = left;
  }
  options_.progress(p);
}

}  // namespace redzone::campaign
