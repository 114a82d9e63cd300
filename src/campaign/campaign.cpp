#include "campaign/campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <iterator>
#include <limits>
#include <utility>

#include "campaign/plans_ahead.h"

namespace redzone::campaign {

using Clock = std::chrono::steady_clock;
using store::Finding;

// What the campaign knows of one target.
struct Campaign::Lane {
  Lane(TargetUnderTest t, std::size_t i, Preparer* preparer)
      : target(std::move(t)), plans(std::move(target.source), *target.spec, preparer), index(i) {
    stats.target = target.spec->name;
  }

  TargetUnderTest target;
  PlansAhead plans;  // of target.source
  std::size_t index;
  std::uint64_t generated = 0;
  double spent_us = 0;
  TargetStats stats;
  // What is left of its turn: the lane with the least has the next one.
  double due() const { return spent_us / target.weight; }
  // In triage.
  void spend(Clock::duration time) {
    spent_us += std::chrono::duration<double, std::micro>(time).count();
    stats.device_seconds += std::chrono::duration<double>(time).count();
  }
  // Suspects by what the screen said of them.
  struct Case {
    std::int64_t finding = 0;
    std::uint64_t seen = 0;
    bool found = false;           // confirmed or flaky
    bool waiting = false;         // for the end of the first look
    std::int64_t unreported = 0;  // sightings that the sink has not heard of
  };
  std::map<std::string, Case> cases;
  std::deque<Waiting> waiting;  // cases to look into
  bool looked_into = false;     // one of them was
  bool barred = false;          // see CampaignOptions
  bool hang_looked_into = false;
};

namespace {

constexpr std::chrono::milliseconds kProgressInterval{500};
constexpr std::chrono::milliseconds kWait{100};  // for a result
constexpr std::chrono::milliseconds kLook{10};   // where something else may happen meanwhile
// The first look at a target ends with its first suspect or so many plans, and that at all targets
// with so much of the time.
constexpr std::uint64_t kFirstLookPlans = 32;
constexpr double kFirstLookShare = 0.25;
// How far behind its share a target may be that could not run for want of a plan that was prepared.
constexpr std::chrono::duration<double, std::micro> kMostCredit{std::chrono::seconds(2)};

// What the executor calls while it waits, for as long as this lives.
class Heartbeat {
 public:
  Heartbeat(exec::Executor& executor, std::function<void()> beat) : executor_(executor) {
    executor_.set_heartbeat(std::move(beat));
  }
  ~Heartbeat() { executor_.set_heartbeat({}); }
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

 private:
  exec::Executor& executor_;
};

// A difference says little about its cause, so a further suspect that looks the same may be another
// bug: some are triaged again, ever more rarely. Faults and canaries speak for themselves, once
// they are confirmed; until then each time that the count has doubled.
bool worth_another_look(const Signature& signature, std::uint64_t seen, bool found) {
  if (!found) return (seen & (seen - 1)) == 0;
  const bool vague =
      signature.kind == FailKind::divergence || signature.kind == FailKind::reference;
  return vague && (seen == 4 || seen == 64 || seen == 1024);
}

// One more plan that got no verdict.
void add_unjudged(std::vector<Unjudged>& all, const std::string& target, const Verdict& verdict) {
  const auto find = [&](const std::string& reason) {
    return std::find_if(all.begin(), all.end(), [&](const Unjudged& u) {
      return u.target == target && u.outcome == verdict.outcome && u.reason == reason;
    });
  };
  std::string reason = verdict.reason;
  auto it = find(reason);
  if (it == all.end() && all.size() >= kMostReasons) it = find(reason = "");
  if (it == all.end()) it = all.insert(it, {target, verdict.outcome, std::move(reason), 0});
  ++it->plans;
}

}  // namespace

Campaign::Campaign(exec::Executor& executor, const oracles::Catalog& catalog, SimplifyFor simplify,
                   FindingSink& sink, std::vector<TargetUnderTest> targets, CampaignOptions options)
    : executor_(executor),
      catalog_(catalog),
      sink_(sink),
      options_(std::move(options)),
      triage_(executor, catalog, std::move(simplify), sink, [this] {
        TriageOptions t = options_.triage;
        t.deadline = options_.deadline;
        t.stop = [this] {
          ask_barred();
          return called_off() || time_is_up() || now() >= case_until_;
        };
        t.interrupted = [this] { return called_off(); };
        return t;
      }()) {
  for (auto& target : targets)
    lanes_.emplace_back(std::move(target), lanes_.size(), options_.preparer);
}

Campaign::~Campaign() = default;

double Campaign::elapsed_seconds() const {
  return std::chrono::duration<double>(now() - started_).count();
}

bool Campaign::time_is_up() const {
  return options_.time.count() > 0 && now() - started_ >= options_.time;
}

bool Campaign::called_off() const {
  return stopped() || (at_work_ != nullptr && at_work_->barred);
}

void Campaign::ask_barred() {
  if (!options_.barred || (barred_asked_ && now() - *barred_asked_ < kProgressInterval)) return;
  barred_asked_ = now();
  for (auto& lane : lanes_) lane.barred = options_.barred(lane.stats.target);
}

Result<CampaignResult> Campaign::run() {
  started_ = last_progress_ = now();
  lost_before_ = executor_.stats().workers_lost;
  const Heartbeat heartbeat(executor_, [this] {
    if (options_.preparer != nullptr) options_.preparer->wait(std::chrono::milliseconds(0));
    if (now() - last_progress_ >= kProgressInterval) tell_progress();
  });
  first_look_ = has_turns();
  while (!stopped() && !time_is_up()) {
    ask_barred();
    if (Lane* lane = lane_to_settle()) {
      const Waiting next = std::move(lane->waiting.front());
      lane->waiting.pop_front();
      if (auto r = settle_waiting(next); !r) return tl::unexpected(r.error());
      if (auto r = report_progress(false); !r) return tl::unexpected(r.error());
      continue;
    }
    look_ahead();
    top_up();
    for (auto& [lane, s] : std::exchange(device_free_suspects_, {}))
      if (auto r = suspect(lanes_[lane], std::move(s)); !r) return tl::unexpected(r.error());
    const bool waits = is_preparing();
    if (executor_.in_flight() == 0) {
      if (next_lane() != nullptr) {
        if (auto r = report_progress(false); !r) return tl::unexpected(r.error());
        continue;
      }
      // The first look at a target whose plans are not ready is no reason to run nothing.
      if ((!waits || first_look_holds_up()) && std::exchange(first_look_, false)) continue;
      if (!waits) {
        if (hangs_.empty()) break;
        if (auto r = settle_hangs(); !r) return tl::unexpected(r.error());
        continue;
      }
    }
    if (executor_.in_flight() == 0)
      options_.preparer->wait(kLook);
    else if (auto done = executor_.next(waits ? kLook : kWait))
      if (auto r = finish(std::move(*done)); !r) return tl::unexpected(r.error());
    if (elapsed_seconds() >= kFirstLookShare * seconds_in_all()) first_look_ = false;
    if (hangs_are_due())
      if (auto r = settle_hangs(); !r) return tl::unexpected(r.error());
    if (auto r = report_progress(false); !r) return tl::unexpected(r.error());
  }
  if (options_.preparer != nullptr) options_.preparer->stop();
  // What is done but not judged yet is recorded, without triage.
  while (auto done = executor_.next(std::chrono::milliseconds(0)))
    if (auto r = finish(std::move(*done)); !r) return tl::unexpected(r.error());
  for (auto& lane : lanes_)
    std::move(lane.waiting.begin(), lane.waiting.end(), std::back_inserter(hangs_));
  for (auto& w : hangs_)
    if (find_listed(w.finding.id) == result_.findings.end())
      result_.findings.push_back(std::move(w.finding));
  result_.stopped = stopped();
  result_.targets = target_stats();
  result_.stats.seconds = elapsed_seconds();
  result_.stats.workers_lost = executor_.stats().workers_lost - lost_before_;
  if (auto r = report_progress(true); !r) return tl::unexpected(r.error());
  return result_;
}

std::uint64_t Campaign::plans_left(const Lane& lane) const {
  if (lane.barred) return 0;
  if (options_.plans_per_target == 0) return std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t made = lane.target.plans_before + lane.generated;
  return options_.plans_per_target - std::min(options_.plans_per_target, made);
}

void Campaign::look_ahead() {
  if (options_.preparer == nullptr) return;
  options_.preparer->wait(std::chrono::milliseconds(0));
  double least_due = std::numeric_limits<double>::infinity();
  for (auto& lane : lanes_) {
    const auto begun = now();
    if (!lane.plans.fill(plans_left(lane))) lane.spend(now() - begun);
    if (may_make(lane) && lane.plans.ready()) least_due = std::min(least_due, lane.due());
  }
  if (!std::isfinite(least_due)) return;
  // Who could not run had no need of its share, and does not make up for it later.
  for (auto& lane : lanes_)
    if (!lane.plans.ready())
      lane.spent_us =
          std::max(lane.spent_us, (least_due - kMostCredit.count()) * lane.target.weight);
}

bool Campaign::may_make(const Lane& lane) const {
  const bool seen = first_look_ && (!lane.cases.empty() || lane.generated >= kFirstLookPlans);
  return !seen && plans_left(lane) > 0;
}

bool Campaign::is_preparing() {
  return std::any_of(lanes_.begin(), lanes_.end(),
                     [&](Lane& lane) { return may_make(lane) && !lane.plans.ready(); });
}

bool Campaign::first_look_holds_up() {
  return first_look_ && std::any_of(lanes_.begin(), lanes_.end(), [&](Lane& lane) {
           const bool makes = plans_left(lane) > 0 && lane.plans.ready();
           return !lane.barred && (makes || !lane.waiting.empty());
         });
}

Campaign::Lane* Campaign::next_lane() {
  Lane* best = nullptr;
  for (auto& lane : lanes_) {
    if (lane.barred) continue;
    const bool makes = may_make(lane) && lane.plans.ready();
    const bool settles = !first_look_ && !lane.waiting.empty();
    if ((makes || settles) && (best == nullptr || lane.due() < best->due())) best = &lane;
  }
  return best;
}

Campaign::Lane* Campaign::lane_to_settle() {
  if (first_look_) return nullptr;
  Lane* first = nullptr;  // in the order in which they were seen
  for (auto& lane : lanes_)
    if (!lane.waiting.empty() && !lane.looked_into && !lane.barred &&
        (first == nullptr || lane.waiting.front().finding.plans_to_first <
                                 first->waiting.front().finding.plans_to_first))
      first = &lane;
  Lane* const lane = first != nullptr ? first : next_lane();
  return lane == nullptr || lane->waiting.empty() ? nullptr : lane;
}

bool Campaign::has_turns() const {
  return options_.time.count() > 0 && lanes_.size() > 1;
}

bool Campaign::must_wait(const Lane& lane) {
  return has_turns() && (first_look_ || (lane.looked_into && next_lane() != &lane));
}

void Campaign::top_up() {
  while (executor_.in_flight() < executor_.appetite() && device_free_suspects_.empty()) {
    Lane* lane = next_lane();
    if (lane == nullptr || (!first_look_ && !lane->waiting.empty())) return;
    ++lane->generated;
    lane->spent_us += 1;  // rotates the lanes before the first results are in
    const auto begun = now();
    try {
      submit_next(*lane);
    } catch (const std::exception& e) {
      // A target's own functions of the dims. Another plan may do, and other targets will: what it
      // took comes out of this one's share. Not at once, as nothing was submitted that would let
      // time pass.
      lane->spend(now() - begun);
      count(*lane,
            {Outcome::harness_error, "", fmt::format("its spec threw: {}", e.what()), {}, -1});
      return;
    }
  }
}

void Campaign::submit_next(Lane& lane) {
  Plan plan = lane.plans.next();
  const TargetSpec& spec = *lane.target.spec;
  Verdict verdict = catalog_.device_free().judge(plan, spec, {});
  if (verdict.failed()) {
    count(lane, verdict);
    device_free_suspects_.push_back({lane.index, {std::move(plan), std::move(verdict), {}, {}, 0}});
    return;
  }
  Pending pending{lane.index, std::move(plan), {}};
  pending.trials = catalog_.screen().expand(pending.plan, spec);
  const auto id = next_job_++;
  executor_.submit({id, pending.plan, pending.trials, options_.deadline, false, true});
  pending_.emplace(id, std::move(pending));
}

void Campaign::count(Lane& lane, const Verdict& verdict) {
  if (verdict.outcome != Outcome::pass && !verdict.failed())
    add_unjudged(result_.unjudged, lane.stats.target, verdict);
  ++lane.stats.plans;
  ++result_.stats.plans;
  const auto add = [&](std::uint64_t TargetStats::*of_target, std::uint64_t& of_all) {
    ++(lane.stats.*of_target);
    ++of_all;
  };
  auto& s = result_.stats;
  switch (verdict.outcome) {
    case Outcome::pass:
      return add(&TargetStats::pass, s.pass);
    case Outcome::fail:
      return add(&TargetStats::fail, s.fail);
    case Outcome::inconclusive:
      return add(&TargetStats::inconclusive, s.inconclusive);
    case Outcome::not_applicable:
      return add(&TargetStats::not_applicable, s.not_applicable);
    case Outcome::harness_error:
      return add(&TargetStats::harness_errors, s.harness_errors);
  }
}

Result<void> Campaign::finish(exec::JobResult result) {
  auto node = pending_.extract(result.id);
  RZ_CHECK(!node.empty());
  Pending& pending = node.mapped();
  Lane& lane = lanes_[pending.lane];
  for (std::size_t t = 0; t < result.observations.size(); ++t) {
    const auto& o = result.observations[t];
    lane.spent_us += static_cast<double>(o.wall_us);
    lane.stats.device_seconds += static_cast<double>(o.wall_us) * 1e-6;
    if (o.end == End::fault || o.end == End::hang || o.end == End::exited)
      lane.spent_us += static_cast<double>(options_.fault_cost.count()) * 1000;
    const bool once = !pending.trials[t].order.empty();
    const auto calls =
        static_cast<std::uint64_t>(once ? static_cast<std::int64_t>(pending.trials[t].order.size())
                                        : call_count(pending.plan));
    result_.stats.calls += calls;
    lane.stats.calls += calls;
  }
  result_.stats.trials += result.observations.size();
  Verdict verdict = catalog_.screen().judge(pending.plan, *lane.target.spec, result.observations);
  count(lane, verdict);
  if (!verdict.failed()) return {};
  return suspect(lane, {std::move(pending.plan), std::move(verdict), std::move(pending.trials),
                        std::move(result.log), result.log_size});
}

Result<void> Campaign::suspect(Lane& lane, Suspect suspect) {
  ++result_.stats.suspects;
  const std::string key = suspect.verdict.signature.text();
  auto it = lane.cases.find(key);
  if (it != lane.cases.end()) {
    ++it->second.seen;
    if (it->second.waiting ||
        !worth_another_look(suspect.verdict.signature, it->second.seen, it->second.found)) {
      ++it->second.unreported;
      return {};
    }
  }
  const auto begun = now();
  auto r = open_case(lane, std::move(suspect), key);
  lane.spend(now() - begun);
  return r;
}

Result<void> Campaign::open_case(Lane& lane, Suspect suspect, const std::string& key) {
  Finding finding;
  finding.signature = suspect.verdict.signature;
  finding.state = store::State::suspect;
  finding.oracle = suspect.verdict.oracle;
  finding.reason = suspect.verdict.reason;
  finding.plan = finding.original = suspect.plan;
  finding.environment = lane.target.environment;
  finding.campaign = options_.id;
  finding.plans_to_first = result_.stats.plans;
  finding.seconds_to_first = elapsed_seconds();
  auto recorded = sink_.record(finding);
  if (!recorded) return tl::unexpected(recorded.error());
  finding.id = recorded->id;
  auto& known = lane.cases[key];
  known.finding = finding.id;
  if (known.seen == 0) known.seen = 1;
  const bool hang = finding.signature.kind == FailKind::hang;
  const bool ends = stopped() || time_is_up() || lane.barred;  // then it stays a suspect
  if (!hang && !ends && !must_wait(lane))
    return settle_case(lane, std::move(finding), suspect, key);
  if (hang && hangs_.empty()) first_hang_ = now();
  known.waiting = true;
  (hang ? hangs_ : lane.waiting)
      .push_back({lane.index, std::move(suspect), key, std::move(finding)});
  return {};
}

std::vector<Finding>::iterator Campaign::find_listed(std::int64_t id) {
  auto& all = result_.findings;
  return std::find_if(all.begin(), all.end(), [id](const Finding& x) { return x.id == id; });
}

double Campaign::seconds_in_all() const {
  return std::chrono::duration<double>(options_.time).count();
}

Result<void> Campaign::settle_waiting(const Waiting& waiting) {
  ask_barred();
  Lane& lane = lanes_[waiting.lane];
  lane.cases[waiting.key].waiting = false;
  if (lane.barred) {
    if (find_listed(waiting.finding.id) == result_.findings.end())
      result_.findings.push_back(waiting.finding);
    return {};
  }
  const auto begun = now();
  auto r = settle_case(lane, waiting.finding, waiting.suspect, waiting.key);
  lane.spend(now() - begun);
  return r;
}

bool Campaign::hangs_are_due() const {
  if (hangs_.empty()) return false;
  if (options_.time.count() > 0) {
    return elapsed_seconds() >= seconds_in_all() * (1 - options_.hang_share);
  }
  return options_.plans_per_target == 0 && now() - first_hang_ >= options_.hang_wait;
}

Result<void> Campaign::settle_hangs() {
  if (has_turns())
    for (auto& hang : std::exchange(hangs_, {})) {
      Lane& lane = lanes_[hang.lane];
      const bool first = !std::exchange(lane.hang_looked_into, true);
      (first ? hangs_ : lane.waiting).push_back(std::move(hang));
    }
  while (!hangs_.empty() && !stopped() && !time_is_up()) {
    if (options_.time.count() > 0) {
      const auto begun = now();
      case_until_ = begun + (started_ + options_.time - begun) / static_cast<int>(hangs_.size());
    }
    const Waiting next = std::move(hangs_.front());
    hangs_.pop_front();
    auto r = settle_waiting(next);
    case_until_ = Clock::time_point::max();
    if (!r) return r;
  }
  return {};
}

Result<void> Campaign::settle_case(Lane& lane, Finding finding, const Suspect& suspect,
                                   const std::string& key) {
  lane.looked_into = true;
  at_work_ = &lane;
  auto settled = triage_.run(std::move(finding), suspect, *lane.target.spec);
  at_work_ = nullptr;
  if (!settled) return tl::unexpected(settled.error());

  const Finding& f = settled->finding;
  auto& known = lane.cases[key];
  known.finding = f.id;
  const auto was_found = [](const Finding& x) {
    return x.state == store::State::confirmed || x.state == store::State::flaky;
  };
  known.found = known.found || was_found(f);
  auto& all = result_.findings;
  auto seen = find_listed(f.id);
  const bool counted = seen != all.end() && was_found(*seen);
  if (seen == all.end())
    all.push_back(f);
  else if (!counted)
    *seen = f;
  if (!was_found(f) || counted) return {};
  if (settled->is_new) result_.new_ids.push_back(f.id);
  ++(settled->is_new ? result_.stats.new_findings : result_.stats.known_findings);
  return {};
}

Result<void> Campaign::report_progress(bool force) {
  if (!force && now() - last_progress_ < kProgressInterval) return {};
  for (auto& lane : lanes_)
    for (auto& [key, known] : lane.cases)
      if (const auto plans = std::exchange(known.unreported, 0); plans > 0)
        if (auto r = sink_.sighted(known.finding, plans); !r) return r;
  tell_progress();
  return {};
}

std::vector<TargetStats> Campaign::target_stats() const {
  std::vector<TargetStats> all;
  for (const auto& lane : lanes_) all.push_back(lane.stats);
  return all;
}

void Campaign::tell_progress() {
  last_progress_ = now();
  if (!options_.progress) return;
  result_.stats.seconds = elapsed_seconds();
  result_.stats.workers_lost = executor_.stats().workers_lost - lost_before_;
  Progress p{result_.stats, -1, {}, target_stats()};
  if (options_.time.count() > 0)
    p.seconds_left =
        std::max(0.0, std::chrono::duration<double>(options_.time).count() - result_.stats.seconds);
  if (options_.plans_per_target > 0) {
    std::uint64_t left = 0;
    for (const auto& lane : lanes_) {
      const std::uint64_t done = lane.target.plans_before + lane.stats.plans;
      left += options_.plans_per_target - std::min(options_.plans_per_target, done);
    }
    p.plans_left = left;
  }
  options_.progress(p);
}

}  // namespace redzone::campaign
