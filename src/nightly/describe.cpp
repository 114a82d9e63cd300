#include "nightly/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <sstream>
#include <tuple>
#include <unordered_map>

#include "campaign/shard.h"
#include "core/campaign_record.h"
#include "core/device_traits.h"
#include "core/exit_code.h"
#include "core/plan_text.h"
#include "core/terminal.h"
#include "engine/origin.h"
#include "nightly/exit_code.h"
#include "nightly/facts.h"
#include "nightly/trend.h"
#include "report/reference.h"
#include "report/text.h"

namespace redzone::nightly {
namespace {

using report::Night;
using report::NightFinding;

constexpr const char* kNoTime = "no time was left";
constexpr const char* kOtherShard = "another shard replays it";
constexpr const char* kNoPrograms = "a night runs no programs";

// Joins distinct texts in the order of their first occurrence.
class Distinct {
 public:
  void add(const std::string& text) {
    if (!text.empty() && seen_.insert(text).second) out_ += (out_.empty() ? "" : ", ") + text;
  }
  std::string text() && { return std::move(out_); }

 private:
  std::set<std::string> seen_;
  std::string out_;
};

class Description {
 public:
  Description(const NightFacts& facts, const NightView& view) : facts_(facts), view_(view) {}

  // Fills in everything but the trend.
  Night made() {
    head();
    for (const auto& run : facts_.night().runs) add(run);
    findings();
    corpus();
    targets();
    gaps();
    return std::move(night_);
  }

 private:
  void head() {
    Night& n = night_;
    const auto& runs = facts_.night().runs;
    const auto& run = runs.front();
    n.campaign = facts_.night().campaign();
    n.tool_version = run.tool_version;
    n.command = facts_.campaigns.at(run.campaign).command;
    n.shard = runs.size() == 1 ? run.shard : 0;
    n.shards = run.shards;
    n.seed = runs.size() == 1
                 ? campaign::Shard{run.shard, run.shards}.seed(run.base_seed, run.resumed)
                 : run.base_seed;
    n.planted_bugs_caught = static_cast<std::size_t>(run.planted_bugs_caught);
    n.ended = facts_.night().ended;
    n.exit_code = exit_code_of(facts_.night()).value_or(kInterrupted);
    Distinct commits, devices, drivers, toolkits, hosts;
    for (const auto& part : runs) {
      commits.add(part.commit);
      devices.add(facts_.campaigns.at(part.campaign).device);
      drivers.add(part.driver);
      toolkits.add(part.toolkit);
      hosts.add(part.host);
    }
    n.commit = std::move(commits).text();
    n.device = std::move(devices).text();
    n.driver = std::move(drivers).text();
    n.toolkit = std::move(toolkits).text();
    n.host = std::move(hosts).text();
  }

  void add(const store::NightRun& run) {
    Night& n = night_;
    const CampaignRecord& c = facts_.campaigns.at(run.campaign);
    const bool ended = run.finished();
    n.parts.push_back({.campaign = run.campaign,
                       .shard = run.shard,
                       .device = c.device,
                       .host = run.host,
                       .started = c.started,
                       .ended = c.ended,
                       .exit_code = ended ? std::optional(run.exit_code) : std::nullopt});
    n.started = n.started.empty() ? c.started : std::min(n.started, c.started);
    n.budget_seconds += run.budget_seconds;
    n.self_proof_seconds += run.proof_seconds;
    n.replay_seconds += run.replay_seconds;
    n.fuzz_seconds += run.fuzz_seconds;
    n.planted_bugs_caught =
        std::min(n.planted_bugs_caught, static_cast<std::size_t>(run.planted_bugs_caught));
    n.resumed += run.resumed;
    n.plans += c.stats.plans;
    n.calls += c.stats.calls;
    n.trials += c.stats.trials;
    n.pass += c.stats.pass;
    n.fail += c.stats.fail;
    n.inconclusive += c.stats.inconclusive;
    n.not_applicable += c.stats.not_applicable;
    n.harness_errors += c.stats.harness_errors;
    n.workers_lost += c.stats.workers_lost;
    n.reference += c.stats.reference;
    if (run.problem.empty()) return;
    if (!n.problem.empty()) n.problem += "; ";
    n.problem += facts_.night().runs.size() == 1
                     ? run.problem
                     : fmt::format("shard {}: {}", run.shard, run.problem);
  }

  void findings() {
    for (const auto& f : facts_.findings) night_.findings.push_back(finding(f));
    const auto urgency = [](const NightFinding& f) {
      static constexpr std::array kOrder{Standing::regressed, Standing::fresh, Standing::known,
                                         Standing::quarantined, Standing::fixed};
      return std::tuple(!is_alarm(f), !is_failure(f.outcome),
                        std::find(kOrder.begin(), kOrder.end(), f.ledger.standing), f.id);
    };
    std::sort(night_.findings.begin(), night_.findings.end(),
              [&](const auto& a, const auto& b) { return urgency(a) < urgency(b); });
  }

  NightFinding finding(const Finding& f) {
    NightFinding out;
    const Signature& s = f.signature;
    out.id = f.id;
    out.signature = s.text();
    out.signature_hash = s.hash();
    out.kind = name_of(s.kind);
    out.target = s.target;
    out.where = s.where;
    out.buffer = s.buffer;
    out.side = s.side;
    out.access = s.access;
    out.confidence = name_of(f.state);
    out.ledger = f.ledger;
    if (!facts_.night().holds(f.campaign)) out.before = standing_before(f.id);
    out.reason = f.reason;
    out.oracle = f.oracle;
    out.reliable_k = f.reliability.k;
    out.reliable_n = f.reliability.n;
    out.calls = call_count(f.plan);
    out.minimal = f.minimal;
    if (f.program)
      out.program = shell_quoted(f.program->argv);
    else
      out.plan = print_plan(f.plan);
    for (const auto& row : f.attribution)
      out.attribution.push_back(
          {.axis = row.axis, .value = row.value, .k = row.failed.k, .n = row.failed.n});
    for (const auto& one : f.fault_attributions)
      out.fault_attributions.push_back(one.source + ": " + text_of(one));
    out.fault = f.fault_detail;
    out.device = f.environment.device;
    out.driver = f.environment.driver;
    out.toolkit = f.environment.toolkit;
    out.code_hash = f.environment.code_hash;
    out.first_seen = f.first_seen;
    out.last_seen = f.last_seen;
    out.replay = report::replay_command(f, view_.db);
    if (const auto seen = facts_.occurrences.find(f.id); seen != facts_.occurrences.end())
      out.occurrences = seen->second;
    outcome(f, out);
    return out;
  }

  Standing standing_before(std::int64_t finding) const {
    const auto entries = facts_.entries.find(finding);
    if (entries == facts_.entries.end()) return Standing::fresh;
    return ledger_at(entries->second, facts_.night().began).standing;
  }

  void outcome(const Finding& f, NightFinding& out) const {
    const auto replay = facts_.replays.find(out.signature_hash);
    const bool replayed = replay != facts_.replays.end();
    if (replayed) {
      out.outcome = replay->second.outcome;
      out.k = replay->second.failed.k;
      out.n = replay->second.failed.n;
      out.outcome_reason = replay->second.reason;
    } else {
      out.outcome_reason = why_not_run(f);
    }
    if (fails_as_recorded(out.outcome)) return;
    // A failure seen while fuzzing takes precedence over a replay that passed.
    if (out.occurrences == 0) return;
    out.outcome = outcome_of_sighting(f.state, facts_.was_found(f));
    out.outcome_reason = why_not_confirmed(out.outcome);
  }

  static std::string why_not_confirmed(ReplayOutcome outcome) {
    if (outcome == ReplayOutcome::seen) return "not confirmed: no time was left for enough runs";
    return outcome == ReplayOutcome::gone ? "it failed in none of the runs to confirm it" : "";
  }

  std::string why_not_run(const Finding& f) const {
    if (f.program) return kNoPrograms;
    if (f.ledger.standing == Standing::quarantined) return "quarantined";
    if (f.state == FindingState::unconfirmed) return "it did not recur in fresh workers";
    return facts_.night().owns(f.signature.hash()) ? kNoTime : kOtherShard;
  }

  void corpus() {
    std::set<std::string> signatures;
    std::unordered_map<std::int64_t, const Finding*> by_id;
    std::map<std::string, const Finding*> by_target;  // the last finding of each target
    for (const auto& f : facts_.findings) {
      signatures.insert(f.signature.hash());
      by_id[f.id] = by_target[f.signature.target] = &f;
    }
    // The flags that load the target: those of the finding that the plan shows, else those of the
    // loaded target, else those of the target's last finding.
    const auto origin = [&](const store::NightReplay& r) -> std::string {
      if (const auto shown = by_id.find(r.finding.value_or(0)); shown != by_id.end())
        return report::origin_flags(shown->second->environment);
      if (const TargetEntry* entry = here(r.target))
        return report::origin_flags(environment(engine::origin_of(*entry)));
      const auto other = by_target.find(r.target);
      return other == by_target.end() ? "" : report::origin_flags(other->second->environment);
    };
    const auto waived = [&](const store::NightReplay& r) {
      const auto shown = by_id.find(r.finding.value_or(0));
      return shown != by_id.end() && is_waived(shown->second->ledger.standing);
    };
    for (const auto& [subject, r] : facts_.replays)
      if (!signatures.contains(subject))
        night_.corpus.push_back({.file = subject,
                                 .target = r.target,
                                 .expected = r.expected,
                                 .outcome = r.outcome,
                                 .k = r.failed.k,
                                 .n = r.failed.n,
                                 .reason = r.reason,
                                 .finding = r.finding,
                                 .replay = "redzone replay " + shell_quoted(subject) + origin(r),
                                 .waived = waived(r)});
  }

  Environment environment(TargetOrigin origin) const {
    Environment here;
    here.device = night_.device;
    here.origin = std::move(origin);
    return here;
  }

  const TargetEntry* here(const std::string& target) const {
    return view_.registry == nullptr
               ? nullptr
               : view_.registry->find(target, traits_of_device(night_.device).kind);
  }

  void targets() {
    std::map<std::string, report::NightTarget> all;
    for (const auto& [name, t] : facts_.targets) {
      const bool no_time = t.plans == 0 && t.not_fuzzed.empty();
      report::NightTarget& target = all[name];
      static_cast<TargetCounts&>(target) = t;
      target.name = name;
      target.share = t.share;
      target.not_fuzzed = no_time ? "no time was left for a plan" : t.not_fuzzed;
      target.no_time = no_time;
    }
    const auto named = [&](const std::string& name, const char* otherwise,
                           bool no_time = false) -> auto& {
      auto& target = all[name];
      if (target.name.empty()) {
        target.name = name;
        target.not_fuzzed = otherwise;
        target.no_time = no_time;
      }
      return target;
    };
    for (const auto& run : facts_.night().runs) {
      std::istringstream asked(run.asked_targets);
      for (std::string name; asked >> name;) named(name, "no time was left to fuzz it", true);
    }
    constexpr const char* kNotAsked = "it was not among the targets of this night";
    for (const auto& [subject, r] : facts_.replays)
      if (!r.target.empty()) named(r.target, kNotAsked).device_seconds += r.device_seconds;
    for (const auto& f : facts_.findings)
      if (was_found(f.state) && !f.program)
        ++named(f.signature.target, kNotAsked).findings[f.ledger.standing];
    for (auto& [name, target] : all) {
      gaps_of(target);
      night_.targets.push_back(std::move(target));
    }
  }

  // Adds gaps in the requested work; other omissions are not gaps.
  void gaps_of(const report::NightTarget& t) {
    if (!t.spec_error.empty()) night_.not_judged.push_back({"the spec of " + t.name, t.spec_error});
    const bool asked = std::any_of(
        facts_.night().runs.begin(), facts_.night().runs.end(), [&](const store::NightRun& run) {
          return (' ' + run.asked_targets + ' ').find(' ' + t.name + ' ') != std::string::npos;
        });
    if (!t.not_fuzzed.empty() && (asked || facts_.targets.contains(t.name)))
      night_.not_judged.push_back({"target " + t.name, t.not_fuzzed});
    else if (t.plans > 0 && t.pass + t.fail == 0)
      night_.not_judged.push_back({"target " + t.name, "none of its plans could be judged"});
    else if (const std::string why = report::not_compared_text(t.reference, t.not_compared);
             !why.empty())
      night_.not_judged.push_back({"target " + t.name, why});
    else if (const std::string why =
                 report::outputs_not_judged_text(t.name, t.reference, t.outputs, t.not_judged);
             !why.empty())
      night_.not_judged.push_back({"target " + t.name, why});
  }

  void missing_shards() {
    const auto& run = facts_.night().runs.front();
    // A running night covers only its own shard.
    if (view_.running || (run.fleet.empty() && facts_.night().runs.size() == 1)) return;
    for (const auto& open : facts_.night().open_shards())
      night_.not_judged.push_back(
          {fmt::format("shard {} of {}", open.shard, run.shards),
           open.has_begun ? "it was interrupted" : "its night is not in this store"});
  }

  void gaps() {
    auto& gaps = night_.not_judged;
    missing_shards();
    for (const auto& p : night_.corpus)
      if (is_gap(p.outcome))
        gaps.push_back({p.file, p.reason.empty() ? std::string(name_of(p.outcome)) : p.reason});
    for (const auto& f : night_.findings) {
      const bool told = is_gap(f.outcome) && f.program.empty() &&
                        f.confidence != name_of(FindingState::unconfirmed) &&
                        f.outcome_reason != kOtherShard;
      if (told) gaps.push_back({fmt::format("finding {}", f.id), f.outcome_reason});
    }
    for (const auto& [count, why] :
         {std::pair{night_.harness_errors, "the harness could not run them"},
          std::pair{night_.inconclusive, "no oracle could decide"},
          std::pair{night_.not_applicable, "no oracle applies, or the target refused them"}})
      if (count > 0) gaps.push_back({fmt::format("{} plans of the fuzzing", count), why});
  }

  const NightFacts& facts_;
  const NightView& view_;
  Night night_;
};

}  // namespace

Result<Night> describe_night(store::Store& store, std::int64_t campaign, const NightView& view) {
  RZ_TRY_ASSIGN(const auto facts, load_night(store, campaign, view.running));
  Night night = Description(facts, view).made();
  RZ_TRY_ASSIGN(auto trend, night_trend(store, facts));
  night.trend = std::move(trend);
  return night;
}

Result<std::int64_t> latest_night(store::Store& store) {
  RZ_TRY_ASSIGN(auto runs, store::NightBook(store).runs());
  RZ_TRY_ASSIGN(const auto campaigns, store.campaigns());
  if (runs.empty()) return usage_error(kNoNight);
  return nights_of(std::move(runs), campaigns).back().campaign();
}

}  // namespace redzone::nightly
