#include "nightly/replays.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "campaign/alarm.h"
#include "core/device_traits.h"
#include "core/log.h"
#include "core/plan_text.h"
#include "engine/origin.h"

namespace redzone::nightly {
namespace {

// Number of consecutive replays that the harness cannot run after which it checks the device.
constexpr int kReplaysLost = 3;

}  // namespace

std::string lost_device(const Means& means) {
  const auto proof = means.prove();
  return proof ? "" : "the device no longer answers: " + proof.error().message;
}

bool NightReplays::ended() const {
  return interrupted() || !night_.run.problem.empty() || night_.means.clock.now() >= until_;
}

Result<void> NightReplays::run(const std::vector<CorpusPlan>& corpus) {
  RZ_TRY_ASSIGN(auto list, todo(corpus));
  const double before = night_.run.replay_seconds;
  const auto begun = night_.means.clock.now();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (ended()) return keep_without_turn(std::span(list).subspan(i));
    RZ_TRY(list[i].replay());
    if (lost_in_a_row_ >= kReplaysLost) {
      lost_in_a_row_ = 0;
      night_.run.problem = lost_device(night_.means);
    }
    night_.run.replay_seconds = before + night_.means.clock.seconds_since(begun);
    RZ_TRY(night_.book.update(night_.run));
  }
  return {};
}

Result<void> NightReplays::keep_without_turn(std::span<const Todo> left) {
  // The replays did not run until the time limit.
  if (interrupted() || !night_.run.problem.empty()) return {};
  for (const auto& each : left) {
    if (each.plan == nullptr) continue;
    store::NightReplay replay = row_of(*each.plan);
    replay.outcome = ReplayOutcome::not_run;
    replay.reason = "no time was left";
    RZ_TRY(keep(replay));
  }
  return {};
}

Result<std::vector<NightReplays::Todo>> NightReplays::todo(const std::vector<CorpusPlan>& corpus) {
  RZ_TRY_ASSIGN(auto findings, night_.store.findings());
  RZ_TRY_ASSIGN(const auto replays, night_.book.replays(night_.run.campaign));
  std::set<std::string> done;  // subjects replayed by earlier parts of this night
  for (const auto& replay : replays)
    if (replay.outcome != ReplayOutcome::not_run) done.insert(replay.subject);
  RZ_TRY_ASSIGN(const auto last, night_.book.last_replayed());

  std::vector<Todo> list;
  std::map<std::pair<std::int64_t, std::string>, int> listed;  // by last replay and target
  const auto add = [&](const std::string& key, const std::string& subject,
                       const std::string& target, auto replay, const CorpusPlan* plan = nullptr) {
    if (done.contains(subject) || !night_.shard.owns(key)) return;
    const auto it = last.find(subject);
    const std::int64_t when = it == last.end() ? 0 : it->second;
    list.push_back({.subject = subject,
                    .last = when,
                    .turn = listed[{when, target}]++,
                    .replay = std::move(replay),
                    .plan = plan});
  };
  for (const auto& f : findings) {
    // A finding of an earlier part of this night was shown only recently.
    const bool of_this_night = f.campaign == night_.run.campaign && was_found(f.state);
    if (f.state != FindingState::unconfirmed && !of_this_night && !f.program)
      add(f.signature.hash(), f.signature.hash(), f.signature.target,
          [this, f] { return replay_finding(f); });
  }
  for (const auto& plan : corpus)
    add(
        plan.name, plan.file, plan.repro.plan.target, [this, &plan] { return replay_plan(plan); },
        &plan);
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
    return std::tie(a.last, a.turn) < std::tie(b.last, b.turn);
  });
  return list;
}

NightReplays::Runnable NightReplays::runnable(Plan& plan,
                                              const engine::RecordedPlan& recorded) const {
  Runnable out;
  const engine::Site& here = site();
  const auto entry = here.check(plan, recorded.name);
  if (!entry) {
    out.why_not = entry.error().message;
    return out;
  }
  out.entry = *entry;
  const SanitizerTool tool = plan.mode.sanitizer;
  // The oracle of a tool runs that tool, whatever the plan requests.
  const std::string no_tool =
      here.no_tool(tool != SanitizerTool::none
                       ? tool
                       : value_named<SanitizerTool>(recorded.oracle).value_or(SanitizerTool::none));
  if (const auto no = here.cannot_run((*entry)->spec))
    out.why_not = *no;
  else if (const auto cannot = here.cannot_judge(recorded))
    out.why_not = *cannot;
  else if (!no_tool.empty())
    out.why_not = no_tool;
  else if (auto oracles = here.oracles_for(plan, (*entry)->spec, recorded.oracle, tool))
    out.oracles = std::move(*oracles);
  else
    out.why_not = oracles.error().message;
  return out;
}

campaign::Evaluator NightReplays::evaluator_for(const TargetSpec& spec) const {
  return {night_.means.executor, spec, night_.means.deadline, [this] { return ended(); }};
}

std::string NightReplays::elsewhere(const Environment& environment) const {
  const std::string& here = site().worker().device;
  if (environment.device.empty() || environment.device == here) return "";
  return fmt::format("it was seen on {}, and this is {}", environment.device, here);
}

campaign::Recheck NightReplays::recheck(const Runnable& target, const Plan& plan,
                                        const std::optional<Signature>& expected,
                                        const Reliability& before, std::int64_t passed) {
  campaign::Evaluator evaluator = evaluator_for(target.entry->spec);
  auto seen = campaign::recheck(evaluator, target.oracles, plan, expected, before, passed);
  lost_in_a_row_ = seen.outcome == ReplayOutcome::harness_error ? lost_in_a_row_ + 1 : 0;
  return seen;
}

Result<void> NightReplays::replay_finding(const Finding& finding) {
  store::NightReplay replay;
  replay.subject = finding.signature.hash();
  replay.finding = finding.id;
  replay.target = finding.signature.target;
  const auto unable = [&](ReplayOutcome outcome, std::string reason) {
    replay.outcome = outcome;
    replay.reason = std::move(reason);
    return keep(replay);
  };
  if (const auto* q = quarantines_.of(finding.signature.target))
    return unable(ReplayOutcome::not_run, q->why);
  const std::string other = elsewhere(finding.environment);
  if (!other.empty() && traits_of_device(finding.environment.device).kind !=
                            traits_of_device(site().worker().device).kind)
    return unable(ReplayOutcome::not_applicable, other);
  Plan plan = finding.plan;
  const auto target = runnable(plan, {.name = fmt::format("finding {}", finding.id),
                                      .oracle = finding.oracle,
                                      .kind = finding.signature.kind,
                                      .found_in = finding.environment});
  if (target.entry == nullptr)
    return unable(
        ReplayOutcome::not_applicable,
        engine::with_origin({ErrorKind::usage, target.why_not}, finding.environment).message);
  if (!target.why_not.empty()) return unable(ReplayOutcome::not_applicable, target.why_not);

  RZ_TRY_ASSIGN(const auto passed, passed_since(finding));
  // A failure that was seen once and never measured gives no estimate of its rate.
  const Reliability before = finding.reliability.k > 0 ? finding.reliability : Reliability{1, 1};
  auto seen = recheck(target, plan, finding.signature, before, passed);
  if (interrupted()) return {};  // a partial replay proves nothing
  for (const std::string& why : {other, other_data_than(finding.environment)})
    if (seen.outcome == ReplayOutcome::passes && !why.empty()) {
      seen.outcome = ReplayOutcome::unclear;
      seen.reason = "it passes here; " + why;
    }
  if (seen.outcome == ReplayOutcome::passes && !finding.environment.code_hash.empty() &&
      site().environment(*target.entry).code_hash == finding.environment.code_hash)
    seen.reason = "the code that ran is the same as when it failed";
  replay.outcome = seen.outcome;
  replay.failed = seen.failed;
  replay.reason = seen.reason;
  replay.device_seconds = seen.device_seconds;
  if (seen.other) RZ_TRY(record(*seen.other, *target.entry));
  RZ_TRY(enter(finding, seen, *target.entry));
  return keep(replay);
}

Result<std::int64_t> NightReplays::passed_since(const Finding& finding) {
  RZ_TRY_ASSIGN(const auto entries, night_.store.entries(finding.id));
  std::string failed;
  for (const auto& entry : entries)
    if (entry.event == LedgerEvent::failed) failed = entry.at;
  return night_.book.passed_runs(finding.id, site().worker().device, failed);
}

Result<void> NightReplays::enter(const Finding& finding, const campaign::Recheck& seen,
                                 const TargetEntry& entry) {
  if (!was_found(finding.state)) {
    // The finding had not been confirmed for lack of time.
    if (seen.failed.k > 0) {
      campaign::Evaluator evaluator = evaluator_for(entry.spec);
      RZ_TRY(campaign::measure_suspect(evaluator, site().catalog_for(entry), sink_, finding));
    } else if (seen.outcome == ReplayOutcome::passes) {
      Finding settled = finding;
      settled.state = FindingState::unconfirmed;
      settled.reliability = seen.failed;
      return night_.store.update(settled);
    }
  }
  if (seen.failed.k == 0 && seen.outcome != ReplayOutcome::passes) return {};
  const auto event = seen.failed.k > 0 ? LedgerEvent::failed : LedgerEvent::passed;
  const auto entered =
      night_.store.enter(finding.id, {.at = "", .event = event, .link = "", .note = ""});
  return entered ? Result<void>() : tl::unexpected(entered.error());
}

Result<std::int64_t> NightReplays::record(const campaign::Alarm& alarm, const TargetEntry& entry) {
  campaign::Evaluator evaluator = evaluator_for(entry.spec);
  Finding found_in;
  found_in.environment = site().environment(entry);
  found_in.campaign = night_.run.campaign;
  RZ_TRY_ASSIGN(const auto finding, campaign::record_alarm(evaluator, site().catalog_for(entry),
                                                           sink_, alarm, found_in));
  return finding.id;
}

store::NightReplay NightReplays::row_of(const CorpusPlan& plan) {
  const auto& expected = plan.repro.signature;
  store::NightReplay row;
  row.subject = plan.file;
  row.target = plan.repro.plan.target;
  row.expected = expected ? expected->text() : "";
  return row;
}

Result<void> NightReplays::replay_plan(const CorpusPlan& corpus) {
  Repro repro = corpus.repro;
  const auto& expected = repro.signature;
  store::NightReplay replay = row_of(corpus);
  replay.outcome = ReplayOutcome::unclear;
  replay.reason = corpus.problem;
  if (!corpus.problem.empty()) return keep(replay);
  if (const auto* q = quarantines_.of(repro.plan.target)) {
    replay.finding = q->finding;
    replay.outcome = ReplayOutcome::not_run;
    replay.reason = q->why;
    return keep(replay);
  }
  engine::RecordedPlan recorded{.name = corpus.file, .oracle = repro.oracle};
  if (expected) recorded.kind = expected->kind;
  const auto target = runnable(repro.plan, recorded);
  if (!target.why_not.empty()) {
    replay.outcome = ReplayOutcome::not_applicable;
    replay.reason = target.why_not;
    return keep(replay);
  }
  auto seen = recheck(target, repro.plan, expected, repro.rate());
  if (interrupted()) return {};
  if (const auto why = site().cannot_refute(recorded);
      why && seen.outcome == ReplayOutcome::passes) {
    seen.outcome = ReplayOutcome::not_applicable;
    seen.reason = *why;
  }
  replay.outcome = seen.outcome;
  replay.failed = seen.failed;
  replay.reason = seen.reason;
  replay.device_seconds = seen.device_seconds;
  // The expected failure comes last, so that the replay is listed under its finding.
  std::vector<campaign::Alarm> alarms;
  if (seen.other) alarms.push_back(*seen.other);
  if (seen.failure) alarms.push_back({*seen.failure, repro.plan});
  for (const auto& alarm : alarms) {
    RZ_TRY_ASSIGN(const auto id, record(alarm, *target.entry));
    replay.finding = id;
  }
  return keep(replay);
}

Result<void> NightReplays::keep(store::NightReplay replay) {
  log::info("replay of {} ({}): {}, failed {} of {}{}{}", replay.subject, replay.target,
            name_of(replay.outcome), replay.failed.k, replay.failed.n,
            replay.reason.empty() ? "" : ": ", replay.reason);
  return night_.book.replayed(night_.run.campaign, replay);
}

}  // namespace redzone::nightly
