// What becomes of a suspect: recorded, then looked into now, later or never.
#include <algorithm>
#include <utility>

#include "campaign/lane.h"

namespace redzone::campaign {

namespace {

constexpr std::chrono::milliseconds kLeastReduceTime{500};

// It says that something differs, and nothing of the cause.
bool is_vague(FailKind kind) {
  return kind == FailKind::divergence || kind == FailKind::reference;
}

// A difference says little about its cause, so a further suspect that looks the same may be another
// bug: some are triaged again, ever more rarely. Faults and canaries speak for themselves, once
// they are confirmed; until then each time that the count has doubled.
bool worth_another_look(const Signature& signature, std::uint64_t seen, bool found) {
  if (!found) return (seen & (seen - 1)) == 0;
  return is_vague(signature.kind) && (seen == 4 || seen == 64 || seen == 1024);
}

}  // namespace

Result<void> Campaign::suspect(Lane& lane, Suspect suspect) {
  ++result_.stats.suspects;
  const std::string key = suspect.verdict.signature.text();
  auto it = lane.cases.find(key);
  const auto explained = lane.nondeterministic.find(suspect.verdict.signature.buffer);
  if (is_vague(suspect.verdict.signature.kind) && explained != lane.nondeterministic.end()) {
    Lane::Case& known = lane.cases[key];
    known.finding = explained->second;
    known.found = true;
    ++known.seen;
    ++known.unreported;
    return {};
  }
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
  finding.state = FindingState::suspect;
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
    return confirm_case(lane, std::move(finding), suspect, key);
  if (hang && hangs_.empty()) first_hang_ = now();
  known.waiting = true;
  // Ahead of what is confirmed.
  auto& line = hang ? hangs_ : lane.waiting;
  const auto place = std::find_if(line.begin(), line.end(),
                                  [](const Waiting& w) { return w.confirmed.has_value(); });
  line.insert(place, {lane.index, std::move(suspect), key, std::move(finding)});
  return {};
}

std::vector<Finding>::iterator Campaign::find_listed(std::int64_t id) {
  auto& all = result_.findings;
  return std::find_if(all.begin(), all.end(), [id](const Finding& x) { return x.id == id; });
}

Result<void> Campaign::settle_waiting(Waiting waiting) {
  ask_barred();
  Lane& lane = lanes_[waiting.lane];
  if (!waiting.confirmed) lane.cases[waiting.key].waiting = false;
  if (lane.barred) {
    if (find_listed(waiting.finding.id) == result_.findings.end())
      result_.findings.push_back(waiting.finding);
    return {};
  }
  const auto begun = now();
  auto r = waiting.confirmed
               ? refine_case(lane, std::move(*waiting.confirmed), waiting.key)
               : confirm_case(lane, std::move(waiting.finding), waiting.suspect, waiting.key);
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
    Waiting next = std::move(hangs_.front());
    hangs_.pop_front();
    auto r = settle_waiting(std::move(next));
    case_until_ = std::chrono::steady_clock::time_point::max();
    if (!r) return r;
  }
  return {};
}

Result<void> Campaign::confirm_case(Lane& lane, Finding finding, const Suspect& suspect,
                                    const std::string& key) {
  lane.looked_into = true;
  const auto begun = now();
  at_work_ = &lane;
  auto confirmed = triage_.confirm(std::move(finding), suspect, *lane.target.spec);
  at_work_ = nullptr;
  confirming_ += now() - begun;
  if (!confirmed) return tl::unexpected(confirmed.error());
  if (!confirmed->shown) meet(lane, confirmed->other);
  note_case(lane, key, confirmed->finding);
  list(confirmed->finding, confirmed->is_new);
  if (!confirmed->shown) return {};
  if (!has_turns()) return refine_case(lane, std::move(*confirmed), key);
  Finding copy = confirmed->finding;
  lane.waiting.push_back({lane.index, {}, key, std::move(copy), std::move(*confirmed)});
  return {};
}

Result<void> Campaign::refine_case(Lane& lane, Triage::Confirmed confirmed,
                                   const std::string& key) {
  const std::int64_t id = confirmed.finding.id;
  const bool was_new = confirmed.is_new;
  at_work_ = &lane;
  auto settled = triage_.refine(std::move(confirmed), *lane.target.spec, reduce_time());
  at_work_ = nullptr;
  if (!settled) return tl::unexpected(settled.error());
  meet(lane, settled->other);
  const Finding& f = settled->finding;
  note_case(lane, key, f);
  if (f.id != id) {
    unlist(id, was_new);
    list(f, settled->is_new);
  } else if (const auto listed = find_listed(id); listed != result_.findings.end()) {
    *listed = f;
  }
  return {};
}

std::chrono::milliseconds Campaign::reduce_time() const {
  const auto most = triage_.options().reduce_time;
  if (!has_turns()) return most;
  std::int64_t waiting = 1;
  for (const auto& lane : lanes_) waiting += static_cast<std::int64_t>(lane.waiting.size());
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(started_ + options_.time - now());
  return std::clamp(left / (2 * waiting), std::min(kLeastReduceTime, most), most);
}

// A failure that was met where another was looked for is a suspect like those of the screen.
void Campaign::meet(Lane& lane, std::optional<Alarm>& other) {
  if (!other) return;
  TrialSpec as_written;
  as_written.mode = other->plan.mode;
  suspects_aside_.push_back(
      {lane.index, {other->plan, other->verdict, {std::move(as_written)}, {}, 0}});
}

void Campaign::note_case(Lane& lane, const std::string& key, const Finding& f) {
  auto& known = lane.cases[key];
  known.finding = f.id;
  known.found = known.found || was_found(f.state);
  if (was_found(f.state) && f.signature.kind == FailKind::nondeterministic)
    lane.nondeterministic[f.signature.buffer] = f.id;
}

void Campaign::list(const Finding& f, bool is_new) {
  auto& all = result_.findings;
  const auto seen = find_listed(f.id);
  const bool counted = seen != all.end() && was_found(seen->state);
  if (seen == all.end())
    all.push_back(f);
  else if (!counted)
    *seen = f;
  if (!was_found(f.state) || counted) return;
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
