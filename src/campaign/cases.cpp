// The stages of a suspect: recorded, then triaged station by station.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "campaign/target_state.h"
#include "core/log.h"

namespace redzone::campaign {

namespace {

constexpr std::chrono::milliseconds kLeastReduceTime{500};
// A reduction may use 1 / kMostWaiting of the time that is left, however many findings wait: most
// reductions need less, and one that ends unfinished has wasted its time.
constexpr int kMostWaiting = 8;
// Confirmation is usually cheap. A case that exceeds this, because it needs many fresh workers, is
// queued with the cases that wait for refinement.
constexpr std::chrono::microseconds kCheap{std::chrono::seconds(2)};

// If many findings share few workers, a reduction that has begun continues, because with turns all
// would end late. But some take longer than all others together, so at 2 s, 4 s, 8 s, ... a
// reduction yields to those that have used less.
int level_of(std::chrono::microseconds spent) {
  int level = 0;
  for (auto step = kCheap; spent >= step; step *= 2) ++level;
  return level;
}

// A plan that costs a worker is queued behind reductions that have used little time, and takes
// turns with the others; beyond this number of such plans per target it gets only otherwise idle
// workers.
constexpr std::uint64_t kLeastLosing = 20;

// Indexed by Campaign::Station; for the log.
constexpr std::array<std::string_view, 4> kStations{"confirm", "refine", "explain", "measure_load"};

// True if another suspect with a known signature should be triaged; `seen` counts its occurrences.
// A difference identifies its cause poorly, so a further suspect with the same signature may be
// another bug: some are triaged again, with decreasing frequency. A confirmed fault or canary needs
// no second triage; unconfirmed ones are triaged again each time the count has doubled.
bool worth_another_look(const Signature& signature, std::uint64_t seen, bool found) {
  if (!found) return (seen & (seen - 1)) == 0;
  return is_vague(signature.kind) && (seen == 4 || seen == 64 || seen == 1024);
}

// An ordering key that grows with the size of a plan.
std::tuple<std::int64_t, std::size_t, double> size_of(const Plan& plan) {
  double dims = 0;
  for (const CallStep* step : calls_of(plan))
    for (const auto& [name, value] : step->call.dims) dims += std::abs(static_cast<double>(value));
  return {call_count(plan), plan.steps.size(), dims};
}

}  // namespace

void Campaign::TargetState::SuspectGroup::note(const Plan& plan) {
  if (!smallest || size_of(plan) < size_of(*smallest)) smallest = plan;
}

Result<void> Campaign::suspect(TargetState& target, Suspect suspect) {
  ++result_.stats.suspects;
  // A failure seen with wide canaries may be a known fault that is named differently with guard
  // pages, so it is kept in a separate group: it explains no similar failure that is seen with
  // guard pages.
  std::string key = suspect.verdict.signature.text();
  if (is_between_canaries(suspect)) key += " between canaries";
  auto it = target.groups.find(key);
  const auto explained = target.nondeterministic.find(suspect.verdict.signature.buffer);
  if (is_vague(suspect.verdict.signature.kind) && explained != target.nondeterministic.end()) {
    TargetState::SuspectGroup& known = target.groups[key];
    known.finding = explained->second;
    known.found = true;
    ++known.seen;
    ++known.unreported;
    return {};
  }
  if (it != target.groups.end()) {
    ++it->second.seen;
    it->second.note(suspect.plan);
    TargetState::SuspectGroup& known = it->second;
    const auto is_worth = [&](bool found) {
      return worth_another_look(suspect.verdict.signature, known.seen, found);
    };
    const bool look = is_worth(known.found);
    if (known.waiting || !look) {
      // A suspect that is worth triage only while nothing is found does not replace one that is
      // always worth it.
      const bool holds = look && (!known.held || is_worth(true));
      if (!holds || known.held) ++known.unreported;
      if (holds) {
        known.held = std::move(suspect);
        known.held_as = known.seen;
      }
      return {};
    }
  }
  return open_case(target, std::move(suspect), key);
}

Result<void> Campaign::look_again(TargetState& target, const std::string& key) {
  TargetState::SuspectGroup& known = target.groups[key];
  if (known.waiting || !known.held) return {};
  Suspect suspect = *std::exchange(known.held, std::nullopt);
  const Signature& seen = suspect.verdict.signature;
  const bool is_explained = is_vague(seen.kind) && target.nondeterministic.find(seen.buffer) !=
                                                       target.nondeterministic.end();
  if (is_explained || is_over_for(target) ||
      !worth_another_look(seen, known.held_as, known.found)) {
    ++known.unreported;
    return {};
  }
  return open_case(target, std::move(suspect), key);
}

Result<void> Campaign::open_case(TargetState& target, Suspect suspect, const std::string& key) {
  Finding finding;
  finding.signature = suspect.verdict.signature;
  finding.state = FindingState::suspect;
  finding.oracle = suspect.verdict.oracle;
  finding.reason = suspect.verdict.reason;
  finding.plan = finding.original = suspect.plan;
  finding.environment = target.under_test.environment;
  finding.campaign = options_.id;
  finding.plans_to_first = result_.stats.plans;
  finding.seconds_to_first = elapsed_seconds();
  RZ_TRY_ASSIGN(auto recorded, sink_.record(finding));
  finding.id = recorded.id;
  log::info("finding {}: suspected after {} plans: {}", finding.id, finding.plans_to_first, key);
  auto& known = target.groups[key];
  if (known.found) take_up(target);
  known.finding = finding.id;
  if (known.seen == 0) known.seen = 1;
  known.waiting = true;
  const bool hang = finding.signature.kind == FailKind::hang;
  if (options_.triage.costs_workers(finding.signature.kind)) note_fault(target);
  Visit visit{.target = target.index,
              .key = key,
              .hang = hang,
              .of_known = known.found,
              .triaged = {.finding = std::move(finding)},
              .suspect = std::move(suspect)};
  if (!hang) {
    wait(target, std::move(visit));
    return {};
  }
  if (hangs_.empty()) first_hang_ = now();
  hangs_.push_back(std::move(visit));
  return {};
}

void Campaign::wait(TargetState& target, Visit visit) {
  // If workers are scarce, another suspect of a target is triaged after the refinement of findings
  // of targets that have used less time.
  const bool scarce = options_.triage.reuse_workers;
  const bool one_is_confirmed =
      std::any_of(target.waiting.begin(), target.waiting.end(),
                  [](const Visit& v) { return v.station == Station::refine && !v.taken_up; }) ||
      (scarce && std::any_of(target.groups.begin(), target.groups.end(),
                             [](const auto& group) { return group.second.found; }));
  visit.turn = one_is_confirmed ? std::max(visit.station, Station::refine) : visit.station;
  // Most suspects seen with wide canaries are another form of a fault that was known when
  // they were seen.
  if (scarce && is_between_canaries(visit.suspect))
    visit.turn = std::max(visit.turn, Station::refine);
  if (visit.taken_up) visit.turn = Station::measure_load;
  if (visit.of_known && target.taken_up > 0) visit.turn = Station::end;
  if (scarce && one_is_confirmed)
    for (auto& other : target.waiting) other.turn = std::max(other.turn, Station::refine);
  target.waiting.push_back(std::move(visit));
  std::stable_sort(
      target.waiting.begin(), target.waiting.end(), [&](const Visit& a, const Visit& b) {
        const auto is_behind = [&](const Visit& v) {
          return scarce && v.station == Station::confirm;
        };
        return std::tuple(a.hang, a.turn, is_behind(a)) < std::tuple(b.hang, b.turn, is_behind(b));
      });
}

std::vector<Finding>::iterator Campaign::find_listed(std::int64_t id) {
  auto& all = result_.findings;
  return std::find_if(all.begin(), all.end(), [id](const Finding& x) { return x.id == id; });
}

void Campaign::start_visits() {
  while (TargetState* target = target_to_triage()) {
    Visit next = std::move(target->waiting.front());
    target->waiting.pop_front();
    start(*target, std::move(next));
  }
}

void Campaign::start(TargetState& target, Visit visit) {
  visit.first = !std::exchange(target.triage_began, true);
  visit.had = had(target);
  ++target.in_triage;
  target.hangs_in_triage += visit.hang;
  if (visit.station <= Station::refine) ++reducing_;
  if (visit.hang && options_.time.count() > 0) {
    auto hangs = static_cast<std::int64_t>(hangs_.size()) + 1;
    for (const auto& l : targets_)
      hangs += std::count_if(l.waiting.begin(), l.waiting.end(),
                             [](const Visit& v) { return v.hang && v.station <= Station::refine; });
    visit.until = now() + (started_ + options_.time - now()) * beside(hangs) / hangs;
  }
  const auto at = std::make_shared<Visit>(std::move(visit));
  if (!at->first) further_.push_back(at);
  Tasks::Task task;
  task.body = [this, &target, at](exec::Runner& runner) {
    try {
      at->result = this->visit(runner, target, *at);
    } catch (const SpecCallsEnded&) {  // the finding keeps its last stored state
    }
  };
  // A hang blocks the device for other work, so its stages after confirmation come last.
  const bool slows_others = at->hang && at->station != Station::confirm;
  task.rank = [this, &target, at, slows_others, order = ++visits_] {
    const bool in_turns = !options_.screen_leaves_room;
    return Tasks::Rank{.stage = static_cast<int>(stage_of(*at)),
                       .level = in_turns       ? 0
                                : slows_others ? std::numeric_limits<int>::max()
                                               : level_of(at->spent),
                       .due = in_turns ? had(target) : at->had,
                       .order = order};
  };
  task.ran = [this, &target, at](auto jobs, auto results) {
    const auto spent = cost_of(jobs, results);
    at->spent += spent;
    if (at->hang) spent_on_hangs_ += spent;
    charge(target, spent);
  };
  task.ended = [this, &target, at] {
    const std::string key = at->key;
    std::erase(further_, at);
    auto done = leave(target, std::move(*at));
    if (done) done = look_again(target, key);
    if (!done) lost_ = done.error();
  };
  tasks_.add(std::move(task));
}

Campaign::Station Campaign::stage_of(const Visit& visit) const {
  if (visit.of_known && targets_[visit.target].taken_up > 0) return Station::end;
  return visit.spent < kCheap ? visit.turn : std::max(visit.turn, Station::refine);
}

Tasks::Rank Campaign::rank_of_losing(const TargetState& target, std::uint64_t order) const {
  // A plan that hangs would block the device for all other work.
  const bool urgent = target.lost_in_triage < kLeastLosing && !target.has_hung;
  return {.stage = static_cast<int>(urgent ? Station::refine : Station::end),
          .level = 1 + level_of(target.lost_in_triage_took),
          .due = had(target),
          .order = order};
}

std::chrono::microseconds Campaign::cost_of(std::span<const exec::Job> jobs,
                                            std::span<const exec::JobResult> results) const {
  std::chrono::microseconds cost{0};
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    for (const auto& o : results[j].observations) cost += std::chrono::microseconds(o.wall_us);
    if (jobs[j].reuse == exec::Reuse::none || results[j].lost_workers > 0)
      cost += options_.worker_cost;
  }
  return cost;
}

void Campaign::charge(TargetState& target, std::chrono::microseconds cost) {
  if (!options_.screen_leaves_room) return target.spend(cost);
  target.triage_us += static_cast<double>(cost.count());
  target.stats.device_seconds += std::chrono::duration<double>(cost).count();
}

TriageOptions Campaign::triage_options(TargetState& target, const Visit& visit) {
  TriageOptions options = options_.triage;
  options.stop = [this, &target, until = visit.until] {
    ask_quarantine();
    return is_over_for(target) || now() >= until;
  };
  options.cut_off = [this, &target] {
    return called_off(target) || is_overdue() || found_enough();
  };
  options.interrupted = [this, &target] { return called_off(target); };
  options.hang_deadline = hang_deadline();
  options.canaries_help = !target.between_canaries.most();
  // A further case with a known signature looks for another bug, so the plans already seen do not
  // apply.
  if (!visit.of_known)
    options.smallest_seen = [&group = target.groups[visit.key]] { return group.smallest; };
  // Otherwise trials of a batch run at the same time, so the sum of their times is no measure of
  // progress.
  if (has_turns() && options_.screen_leaves_room)
    options.trial_time = [&visit] { return visit.spent; };
  return options;
}

Result<void> Campaign::visit(exec::Runner& runner, TargetState& target, Visit& visit) {
  static_assert(kStations.size() == static_cast<std::size_t>(Station::end));
  log::info("finding {}: {} begins", visit.triaged.finding.id,
            kStations.at(static_cast<std::size_t>(visit.station)));
  const Workshop shop{
      runner, catalog_, simplify_, sink_, *target.under_test.spec, triage_options(target, visit)};
  switch (visit.station) {
    case Station::confirm:
      return confirm(shop, visit.triaged, visit.suspect);
    case Station::refine:
      return refine(shop, visit.triaged, reduce_time());
    case Station::explain:
      return explain(shop, visit.triaged);
    case Station::measure_load:
      return measure_load(shop, visit.triaged);
    case Station::end:
      break;
  }
  RZ_CHECK(false);
}

// Lists the finding of a confirmation or reduction, and reports it.
void Campaign::note_result(TargetState& target, const Visit& visit) {
  const Case& c = visit.triaged;
  const Finding& f = c.finding;
  if (was_found(f.state) && f.signature.kind == FailKind::hang) {
    target.hang_is_known = true;
    target.may_be_slow = false;
  }
  note_case(target, visit.key, f);
  if (visit.listed != 0 && visit.listed != f.id) {
    unlist(visit.listed, visit.listed_as_new);
    if (options_.merged) options_.merged(visit.listed, f.id);
  }
  list(f, c.is_new);
  const bool as_before = visit.taken_up && f.reduction.end == ReductionEnd::time;
  if (was_found(f.state) && options_.found && !as_before) options_.found(f, elapsed_seconds());
}

// Stores the outcome of the station, and queues the case for its next station, if any.
Result<void> Campaign::leave(TargetState& target, Visit visit) {
  --target.in_triage;
  target.hangs_in_triage -= visit.hang;
  if (visit.station <= Station::refine) --reducing_;
  if (visit.taken_up && visit.station == Station::refine) --target.taken_up;
  if (!visit.result) return visit.result;
  Case& c = visit.triaged;
  const Finding& f = c.finding;
  log::info("finding {}: {} ends after {:.1f} s of trials: {}, failed {} of {}, {} steps: {}", f.id,
            kStations.at(static_cast<std::size_t>(visit.station)),
            std::chrono::duration<double>(visit.spent).count(), name_of(f.state), f.reliability.k,
            f.reliability.n, f.plan.steps.size(), f.signature.text());
  if (visit.station == Station::confirm) target.groups[visit.key].waiting = false;
  if (visit.hang && f.state == FindingState::unconfirmed) {
    target.hung.forget_hung();  // it was only slow
    if (options_.screen_leaves_room) screen_again(target, visit.suspect.plan);
  }
  // Another suspect with the same name was confirmed first: only one of them is refined.
  const auto ahead = find_listed(f.id);
  const bool again = visit.station == Station::confirm && ahead != result_.findings.end() &&
                     was_found(ahead->state);
  if (again) {
    note_case(target, visit.key, f);
    list(f, c.is_new);
    meet(target, c.other);
    take_up(target);
    return {};
  }
  if (visit.station <= Station::refine) note_result(target, visit);
  const bool is_explained = visit.taken_up && plan_hash(f.plan) == visit.explained;
  if (visit.station > Station::refine || is_explained)
    if (const auto listed = find_listed(f.id); listed != result_.findings.end()) *listed = f;
  if (!c.shown || visit.station != Station::confirm) meet(target, c.other);
  visit.listed = f.id;
  visit.listed_as_new = c.is_new;
  visit.suspect = {};
  visit.spent = {};
  visit.station =
      is_explained ? Station::end : static_cast<Station>(static_cast<int>(visit.station) + 1);
  if (!c.shown) return {};
  if (visit.early) {
    hangs_.push_back(std::move(visit));
    return {};
  }
  if (visit.station != Station::end) {
    wait(target, std::move(visit));
    return {};
  }
  if (!was_found(c.finding.state)) return {};
  if (c.is_new && !visit.taken_up) ++finished_;
  if (!visit.hang && c.finding.reduction.end == ReductionEnd::time)
    target.unfinished.push_back(std::move(visit));
  return {};
}

// A reduction ends unfinished when its part of the time is used, so that several bugs are found. It
// gets another part before a further suspect of a known bug is confirmed, because that confirmation
// would show nothing new.
void Campaign::take_up(TargetState& target) {
  if (target.unfinished.empty() || target.taken_up > 0) return;
  Visit visit = std::move(target.unfinished.front());
  target.unfinished.pop_front();
  log::info("finding {}: its reduction is taken up again", visit.triaged.finding.id);
  ++target.taken_up;
  visit.taken_up = visit.triaged.goes_on = true;
  visit.explained = plan_hash(visit.triaged.finding.plan);
  visit.station = Station::refine;
  wait(target, std::move(visit));
}

bool Campaign::hangs_are_due() const {
  if (hangs_.empty()) return false;
  if (options_.time.count() > 0) {
    double last = seconds_in_all() * options_.hang_share;
    // A single target blocks the device for no other, so it gets the time that a measurement takes.
    if (targets_.size() == 1 && last > 0)
      last = std::max(last, std::min(std::chrono::duration<double>(hang_confirmation()).count(),
                                     seconds_in_all() / 2));
    return elapsed_seconds() >= seconds_in_all() - last;
  }
  return options_.plans_per_target == 0 && now() - first_hang_ >= options_.hang_wait;
}

std::chrono::milliseconds Campaign::hang_confirmation() const {
  return options_.triage.deadline * (options_.triage.confirm_runs + 1);
}

void Campaign::release_hangs() {
  log::info("campaign {}: triage of hanging suspects begins: {}", options_.id, hangs_.size());
  for (auto& hang : std::exchange(hangs_, {})) {
    hang.early = false;
    TargetState& target = targets_[hang.target];
    wait(target, std::move(hang));
  }
}

void Campaign::confirm_hang_early() {
  if (options_.time.count() == 0 || options_.screen_leaves_room) return;
  const auto hang = std::find_if(hangs_.begin(), hangs_.end(), [&](const Visit& v) {
    return v.station == Station::confirm && !targets_[v.target].quarantined;
  });
  const bool others_wait =
      tasks_.size() > 0 ||
      std::any_of(targets_.begin(), targets_.end(), [](const TargetState& target) {
        return !target.waiting.empty() && !target.quarantined;
      });
  if (hang == hangs_.end() || others_wait || options_.hang_share == 0) return;
  const double share = targets_.size() == 1 ? 1 : options_.hang_share;
  const std::chrono::duration<double> costs = spent_on_hangs_ + hang_confirmation();
  if (costs.count() > share * elapsed_seconds()) return;
  Visit early = std::move(*hang);
  hangs_.erase(hang);
  early.early = true;
  TargetState& target = targets_[early.target];
  wait(target, std::move(early));
}

std::int64_t Campaign::beside(std::int64_t visits) const {
  return std::min(visits, static_cast<std::int64_t>(options_.triage.parallel));
}

std::chrono::milliseconds Campaign::reduce_time() const {
  const auto most = options_.triage.reduce_time;
  if (!has_turns()) return most;
  auto visits = static_cast<std::int64_t>(reducing_);
  for (const auto& target : targets_)
    visits += std::count_if(target.waiting.begin(), target.waiting.end(),
                            [](const Visit& v) { return v.station <= Station::refine; });
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(started_ + options_.time - now());
  const auto least = options_.screen_leaves_room ? left / kMostWaiting : left * 0;
  const auto share = std::max(left * beside(visits) / (2 * visits), least);
  return std::clamp(share, std::min(kLeastReduceTime, most), most);
}

// A failure that was met during the triage of another one becomes a suspect like those of the
// screen.
void Campaign::meet(TargetState& target, std::optional<Alarm>& other) {
  if (!other) return;
  TrialSpec as_written;
  as_written.mode = other->plan.mode;
  deferred_suspects_.push_back(
      {target.index, {other->plan, other->verdict, {std::move(as_written)}, {}, 0}});
  other.reset();
}

void Campaign::note_case(TargetState& target, const std::string& key, const Finding& f) {
  auto& known = target.groups[key];
  known.finding = f.id;
  known.found = known.found || was_found(f.state);
  const bool fault = options_.triage.costs_workers(f.signature.kind);
  if (was_found(f.state) && fault) note_fault(target);
  // A fault that was only suspected is searched for again like any other failure.
  target.has_fault = target.has_fault || (was_found(f.state) && fault);
  if (!target.has_fault && fault) target.fault_is_known = false;
  if (was_found(f.state) && f.signature.kind == FailKind::nondeterministic)
    target.nondeterministic[f.signature.buffer] = f.id;
}

void Campaign::list(const Finding& f, bool is_new) {
  auto& all = result_.findings;
  const auto seen = find_listed(f.id);
  const bool counted = seen != all.end() && was_found(seen->state);
  if (seen == all.end())
    all.push_back(f);
  else if (!counted)
    *seen = f;
  if (!was_found(f.state)) return;
  const auto& news = result_.new_ids;
  const bool counted_as_new = std::find(news.begin(), news.end(), f.id) != news.end();
  // A suspect may get the name of a finding that was recorded earlier in this campaign and is
  // confirmed later: the first was counted as known, and both are new.
  if (counted && (counted_as_new || !is_new)) return;
  if (counted) --result_.stats.known_findings;
  if (is_new) result_.new_ids.push_back(f.id);
  ++(is_new ? result_.stats.new_findings : result_.stats.known_findings);
}

void Campaign::unlist(std::int64_t id, bool is_new) {
  const auto listed = find_listed(id);
  if (listed == result_.findings.end()) return;
  result_.findings.erase(listed);
  std::erase(result_.new_ids, id);
  --(is_new ? result_.stats.new_findings : result_.stats.known_findings);
}

}  // namespace redzone::campaign
