#include "cli/night_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <tuple>

#include "campaign/shard.h"
#include "cli/command.h"
#include "core/plan_text.h"
#include "report/night_formats.h"
#include "report/text.h"

namespace redzone::cli {
namespace {

using report::Night;
using report::NightFinding;
using store::State;

constexpr std::size_t kNightsShown = 60;  // of the trend
constexpr const char* kNoNight = "the store holds no night: 'redzone nightly' makes one";

bool was_found(State state) {
  return state == State::confirmed || state == State::flaky;
}

class Description {
 public:
  Description(store::Store& store, std::string_view db) : store_(store), book_(store), db_(db) {}

  Result<Night> of(std::int64_t campaign) {
    if (auto r = load(campaign); !r) return tl::unexpected(r.error());
    head();
    findings();
    corpus();
    targets();
    gaps();
    if (auto r = trend(); !r) return tl::unexpected(r.error());
    return std::move(night_);
  }

 private:
  template <class T>
  static Result<void> take(Result<T> from, T& into) {
    if (!from) return tl::unexpected(from.error());
    into = std::move(*from);
    return {};
  }

  Result<void> load(std::int64_t id) {
    return take(book_.runs(), runs_)
        .and_then([&] { return take(store_.campaigns(), campaigns_); })
        .and_then([&] { return take(store_.findings(), findings_); })
        .and_then([&] { return take(store_.all_entries(), entries_); })
        .and_then([&] { return take(book_.replays(id), replays_); })
        .and_then([&] { return take(book_.targets(id), targets_); })
        .and_then([&] { return take(book_.sightings(id), sightings_); })
        .and_then([&]() -> Result<void> {
          for (const auto& run : runs_)
            if (run.campaign == id) run_ = run;
          if (run_.campaign != id)
            return usage_error(runs_.empty()
                                   ? kNoNight
                                   : fmt::format("the store holds no night {}: the latest is {}",
                                                 id, runs_.back().campaign));
          for (const auto& run : runs_)
            if (campaign_of(run.campaign) == nullptr)
              return harness_error(
                  fmt::format("night {} has no campaign: 'redzone db check' tells "
                              "what else is wrong with the store",
                              run.campaign));
          campaign_ = *campaign_of(id);
          return {};
        });
  }

  const store::Campaign* campaign_of(std::int64_t id) const {
    for (const auto& c : campaigns_)
      if (c.id == id) return &c;
    return nullptr;
  }

  void head() {
    Night& n = night_;
    n.campaign = run_.campaign;
    n.tool_version = run_.tool_version;
    n.command = campaign_.command;
    n.commit = run_.commit;
    n.device = campaign_.device;
    n.driver = run_.driver;
    n.toolkit = run_.toolkit;
    n.host = run_.host;
    n.shard = run_.shard;
    n.shards = run_.shards;
    n.seed = campaign::Shard{run_.shard, run_.shards}.seed(run_.base_seed, run_.resumed);
    n.started = campaign_.started;
    n.ended = campaign_.ended;
    n.budget_seconds = run_.budget_seconds;
    n.self_proof_seconds = run_.proof_seconds;
    n.replay_seconds = run_.replay_seconds;
    n.fuzz_seconds = run_.fuzz_seconds;
    n.planted_bugs_caught = static_cast<std::size_t>(run_.planted_bugs_caught);
    n.resumed = run_.resumed;
    const auto& s = campaign_.stats;
    n.plans = s.plans;
    n.calls = s.calls;
    n.trials = s.trials;
    n.pass = s.pass;
    n.fail = s.fail;
    n.inconclusive = s.inconclusive;
    n.not_applicable = s.not_applicable;
    n.harness_errors = s.harness_errors;
    n.workers_lost = s.workers_lost;
    n.problem = run_.problem;
    n.exit_code = run_.exit_code == store::NightRun::kUnfinished ? static_cast<int>(kInterrupted)
                                                                 : run_.exit_code;
  }

  void findings() {
    for (const auto& f : findings_) night_.findings.push_back(finding(f));
    const auto urgency = [](const NightFinding& f) {
      static constexpr std::array kOrder{Standing::regressed, Standing::fresh, Standing::known,
                                         Standing::quarantined, Standing::fixed};
      return std::tuple(!is_alarm(f), f.tonight > Tonight::flaky,
                        std::find(kOrder.begin(), kOrder.end(), f.ledger.standing), f.id);
    };
    std::sort(night_.findings.begin(), night_.findings.end(),
              [&](const auto& a, const auto& b) { return urgency(a) < urgency(b); });
  }

  NightFinding finding(const store::Finding& f) {
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
    if (f.campaign != run_.campaign) out.before = ledger_at(entries_[f.id], run_.began).standing;
    out.reason = f.reason;
    out.oracle = f.oracle;
    out.reliable_k = f.reliability.k;
    out.reliable_n = f.reliability.n;
    out.calls = call_count(f.plan);
    out.minimal = f.minimal;
    out.plan = print_plan(f.plan);
    for (const auto& row : f.attribution)
      out.attribution.push_back({row.axis, row.value, row.failed.k, row.failed.n});
    for (const auto& culprit : f.culprits)
      out.culprits.push_back(culprit.source + ": " + text_of(culprit));
    out.fault = f.fault_detail;
    out.device = f.environment.device;
    out.driver = f.environment.driver;
    out.toolkit = f.environment.toolkit;
    out.code_hash = f.environment.code_hash;
    out.first_seen = f.first_seen;
    out.last_seen = f.last_seen;
    out.replay = report::replay_command(f, db_);
    for (const auto& [id, plans] : sightings_)
      if (id == f.id) out.sightings += plans;
    outcome(f, out);
    return out;
  }

  void outcome(const store::Finding& f, NightFinding& out) {
    const auto replay = std::find_if(replays_.begin(), replays_.end(), [&](const auto& r) {
      return r.subject == out.signature_hash;
    });
    if (replay != replays_.end()) {
      out.tonight = replay->tonight;
      out.k = replay->failed.k;
      out.n = replay->failed.n;
      out.outcome_reason = replay->reason;
    } else {
      out.outcome_reason = why_not_run(f);
    }
    if (out.tonight == Tonight::fails || out.tonight == Tonight::flaky) return;
    const auto& entries = entries_[f.id];
    const bool failed = was_found(f.state) && !entries.empty() &&
                        entries.back().event == LedgerEvent::failed &&
                        entries.back().at >= run_.began &&
                        (campaign_.ended.empty() || entries.back().at <= campaign_.ended);
    if (failed) {
      out.tonight = Tonight::found;
      out.outcome_reason.clear();
    } else if (!was_found(f.state) && out.sightings > 0) {
      out.tonight = Tonight::unclear;
      out.outcome_reason = f.state == State::suspect
                               ? "it was seen, and no time was left to confirm it"
                               : "it was seen, and did not recur in fresh workers";
    }
  }

  std::string why_not_run(const store::Finding& f) const {
    if (f.ledger.standing == Standing::quarantined) return "quarantined";
    if (f.state == State::unconfirmed) return "it never recurred in fresh workers";
    const campaign::Shard shard{run_.shard, run_.shards};
    if (!shard.owns(f.signature.hash())) return "another shard replays it";
    return f.campaign == run_.campaign ? "it was seen tonight" : "no time was left";
  }

  void corpus() {
    for (const auto& r : replays_) {
      if (std::any_of(findings_.begin(), findings_.end(),
                      [&](const auto& f) { return f.signature.hash() == r.subject; }))
        continue;
      std::string replay = "redzone replay " + r.subject;
      // What it takes besides is known of a plan that has shown something.
      const auto shown = std::find_if(findings_.begin(), findings_.end(),
                                      [&](const auto& f) { return f.id == r.finding; });
      if (shown != findings_.end()) replay += report::origin_flags(shown->environment);
      night_.corpus.push_back({r.subject, r.target, r.expected, r.tonight, r.failed.k, r.failed.n,
                               r.reason, r.finding, std::move(replay)});
    }
  }

  void targets() {
    std::map<std::string, report::NightTarget> all;
    for (const auto& t : targets_)
      all[t.target] = {t.target,         t.plans,          t.calls, t.device_seconds,
                       t.share,          t.pass,           t.fail,  t.inconclusive,
                       t.not_applicable, t.harness_errors, {},      t.not_fuzzed};
    const auto named = [&](const std::string& name) -> report::NightTarget& {
      auto& target = all[name];
      if (target.name.empty()) {
        target.name = name;
        target.not_fuzzed = "it was not among the targets of this night";
      }
      return target;
    };
    for (const auto& r : replays_)
      if (!r.target.empty()) named(r.target).device_seconds += r.device_seconds;
    for (const auto& f : findings_)
      if (was_found(f.state)) ++named(f.signature.target).findings[f.ledger.standing];
    for (auto& [name, target] : all) night_.targets.push_back(std::move(target));
  }

  void gaps() {
    auto& gaps = night_.not_judged;
    for (const auto& t : targets_)
      if (!t.not_fuzzed.empty()) gaps.push_back({"target " + t.target, t.not_fuzzed});
    for (const auto& p : night_.corpus)
      if (p.tonight > Tonight::passes)
        gaps.push_back({p.file, p.reason.empty() ? std::string(name_of(p.tonight)) : p.reason});
    for (const auto& f : night_.findings) {
      const bool told = f.tonight > Tonight::passes &&
                        f.confidence != name_of(State::unconfirmed) &&
                        f.outcome_reason != "another shard replays it";
      if (told) gaps.push_back({fmt::format("finding {}", f.id), f.outcome_reason});
    }
    for (const auto& [count, why] :
         {std::pair{night_.harness_errors, "the harness could not run them"},
          std::pair{night_.inconclusive, "no oracle could tell"},
          std::pair{night_.not_applicable, "no oracle applies, or the target refused them"}})
      if (count > 0) gaps.push_back({fmt::format("{} plans of the fuzzing", count), why});
  }

  Result<void> trend() {
    const auto last = std::find_if(runs_.begin(), runs_.end(),
                                   [&](const auto& run) { return run.campaign == run_.campaign; });
    const auto count = static_cast<std::size_t>(last - runs_.begin()) + 1;
    for (std::size_t i = count - std::min(count, kNightsShown); i < count; ++i)
      if (auto r = add_trend(runs_[i], i + 1 < count ? runs_[i + 1].began : ""); !r) return r;
    return {};
  }

  // `next`: when the night after it began. What was seen later than either does not count.
  Result<void> add_trend(const store::NightRun& run, const std::string& next) {
    const auto* campaign = campaign_of(run.campaign);
    report::NightTrend& trend = night_.trend.emplace_back();
    trend.campaign = run.campaign;
    trend.started = campaign->started;
    trend.plans = campaign->stats.plans;
    trend.calls = campaign->stats.calls;
    if (run.exit_code != store::NightRun::kUnfinished) trend.exit_code = run.exit_code;
    // Of this night, and of one that was cut off, all that is known now.
    const bool whole = run.campaign == run_.campaign || campaign->ended.empty();
    const std::string end = next.empty() ? campaign->ended : std::min(campaign->ended, next);
    for (const auto& f : findings_) {
      if (!was_found(f.state) || (!whole && f.first_seen > campaign->ended)) continue;
      const Ledger ledger = whole ? f.ledger : ledger_at(entries_[f.id], end);
      ++trend.findings[ledger.standing];
    }
    const auto targets = book_.targets(run.campaign);
    if (!targets) return tl::unexpected(targets.error());
    for (const auto& t : *targets)
      if (t.device_seconds > 0) trend.device_seconds[t.target] += t.device_seconds;
    const auto replays = book_.replays(run.campaign);
    if (!replays) return tl::unexpected(replays.error());
    for (const auto& r : *replays)
      if (r.device_seconds > 0) trend.device_seconds[r.target] += r.device_seconds;
    return {};
  }

  store::Store& store_;
  store::NightBook book_;
  std::string db_;
  std::vector<store::NightRun> runs_;
  std::vector<store::Campaign> campaigns_;
  std::vector<store::Finding> findings_;
  std::map<std::int64_t, std::vector<LedgerEntry>> entries_;
  std::vector<store::NightReplay> replays_;
  std::vector<store::NightTarget> targets_;
  std::vector<std::pair<std::int64_t, std::int64_t>> sightings_;
  store::NightRun run_;
  store::Campaign campaign_;
  Night night_;
};

}  // namespace

Result<Night> describe_night(store::Store& store, std::int64_t campaign, std::string_view db) {
  return Description(store, db).of(campaign);
}

Result<std::int64_t> latest_night(store::Store& store) {
  const auto runs = store::NightBook(store).runs();
  if (!runs) return tl::unexpected(runs.error());
  if (runs->empty()) return usage_error(kNoNight);
  return runs->back().campaign;
}

int night_exit_code(const Night& night, bool broken_corpus) {
  if (!night.problem.empty()) return kHarness;
  if (std::any_of(night.findings.begin(), night.findings.end(), report::is_alarm)) return kFound;
  if (broken_corpus) return kUsage;
  const auto judged = [](const auto& replayed) { return replayed.n > 0; };
  if (night.pass + night.fail > 0 ||
      std::any_of(night.findings.begin(), night.findings.end(), judged) ||
      std::any_of(night.corpus.begin(), night.corpus.end(), judged))
    return kOk;
  return night.harness_errors > 0 ? kHarness : kNotJudged;
}

Result<void> write_night(const Night& night, const std::filesystem::path& folder) {
  for (const auto& format : report::night_formats()) {
    const auto path = folder / format.file;
    std::ofstream out(path, std::ios::binary);
    out << format.write(night);
    out.close();
    if (!out) return usage_error(fmt::format("{}: cannot be written", path.string()));
  }
  return {};
}

}  // namespace redzone::cli
