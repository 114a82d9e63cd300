#include "cli/nightly.h"
#include "cli/output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>
#include <map>

#include "campaign/shares.h"
#include "cli/fuzzing.h"
#include "cli/interrupt.h"
#include "cli/night_replays.h"
#include "core/campaign_record.h"
#include "core/utc.h"
#include "engine/campaign_options.h"
#include "engine/plans.h"
#include "engine/store_sink.h"
#include "store/environment.h"

namespace redzone::cli {
namespace {

using Clock = std::chrono::steady_clock;

// Earlier nights that the division of time looks at.
constexpr std::size_t kNightsLookedAt = 14;
// Plans in a row that the harness could not run, before it looks whether the device is there.
constexpr std::uint64_t kPatience = 40;

double seconds_since(Clock::time_point begun) {
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

ReferenceCount sum(ReferenceCount a, const ReferenceCount& b) {
  return a += b;
}

CampaignStats sum(const CampaignStats& a, const CampaignStats& b) {
  return {a.seconds + b.seconds,
          a.plans + b.plans,
          a.calls + b.calls,
          a.trials + b.trials,
          a.pass + b.pass,
          a.fail + b.fail,
          a.inconclusive + b.inconclusive,
          a.not_applicable + b.not_applicable,
          a.harness_errors + b.harness_errors,
          a.suspects + b.suspects,
          a.new_findings + b.new_findings,
          a.known_findings + b.known_findings,
          a.workers_lost + b.workers_lost,
          sum(a.reference, b.reference)};
}

std::string sorted_list(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  return fmt::format("{}", fmt::join(names, " "));
}

std::string targets_of(const engine::Selection& selection) {
  std::vector<std::string> names;
  for (const auto* entry : selection.targets) names.push_back(entry->spec.name);
  for (const auto& skipped : selection.skipped) names.push_back(skipped.target);
  return sorted_list(std::move(names));
}

std::string plans_of(const std::vector<CorpusPlan>& corpus) {
  std::vector<std::string> names;
  for (const auto& plan : corpus) names.push_back(plan.name);
  return sorted_list(std::move(names));
}

// Notices when nothing that is asked for can be run any more.
class Watch {
 public:
  void operator()(const CampaignStats& stats) {
    if (stats.plans - stats.harness_errors == judged_) return;
    judged_ = stats.plans - stats.harness_errors;
    errors_ = stats.harness_errors;
  }
  bool stalled(const CampaignStats& stats) const {
    return stats.harness_errors >= errors_ + kPatience;
  }

 private:
  std::uint64_t judged_ = 0, errors_ = 0;
};

}  // namespace

Nightly::Nightly(engine::Engine& session, store::Store& store, const engine::Selection& selection,
                 const NightlyOptions& options)
    : session_(session),
      store_(store),
      book_(store),
      selection_(selection),
      options_(options),
      quarantines_(store) {
  run_.asked_targets = targets_of(selection);
  run_.asked_corpus = plans_of(options.corpus);
}

double Nightly::seconds_used() const {
  return run_.proof_seconds + run_.replay_seconds + run_.fuzz_seconds;
}

bool Nightly::goes_on() const {
  return !interrupted() && run_.problem.empty();
}

Result<void> Nightly::run() {
  if (auto r = resume(); !r) return tl::unexpected(r.error());
  if (run_.campaign == 0)
    if (auto r = begin(); !r) return r;
  if (auto r = prove(); !r) return r;
  if (goes_on())
    if (auto r = replay(); !r) return r;
  if (goes_on())
    if (auto r = fuzz(); !r) return r;
  return book_.update(run_);
}

std::string Nightly::difference(const store::NightRun& run, const std::string& device) const {
  if (device != session_.site().worker().device) return "was on " + device;
  if (run.asked_targets != run_.asked_targets) return "had other targets";
  if (run.asked_corpus != run_.asked_corpus) return "had another corpus";
  if (run.commit != options_.commit) return "was of another commit";
  if (options_.seed && *options_.seed != run.base_seed) return "had another seed";
  return "";
}

Result<bool> Nightly::resume() {
  const auto runs = book_.runs();
  if (!runs) return tl::unexpected(runs.error());
  for (auto run = runs->rbegin(); run != runs->rend(); ++run) {
    if (run->exit_code != store::NightRun::kUnfinished ||
        run->began < utc_days_ago(NightlyOptions::kResumeDays) ||
        run->shard != options_.shard.index || run->shards != options_.shard.count)
      continue;
    auto campaign = store_.resume_campaign(run->campaign);
    if (!campaign) return tl::unexpected(campaign.error());
    if (!campaign->ended.empty()) continue;
    if (const std::string other = difference(*run, campaign->device); !other.empty()) {
      print_note(fmt::format("nightly: night {}, which was cut off, {}: it is left as it is",
                             run->campaign, other));
      continue;
    }
    campaign_ = std::move(*campaign);
    run_ = *run;
    run_.budget_seconds = std::chrono::duration<double>(options_.time).count();
    ++run_.resumed;
    print_note(fmt::format(
        "nightly: goes on with night {}, which was cut off after {:.0f} s of its time: {}",
        run_.campaign, seconds_used(), campaign_.command));
    if (auto r = book_.update(run_); !r) return tl::unexpected(r.error());
    return true;
  }
  return false;
}

Result<void> Nightly::begin() {
  auto now = store_.moment();
  if (!now) return tl::unexpected(now.error());
  run_.began = std::move(*now);
  run_.base_seed = options_.seed.value_or(XXH3_64bits(run_.began.data(), run_.began.size()));
  run_.shard = options_.shard.index;
  run_.shards = options_.shard.count;
  run_.commit = options_.commit;
  const auto environment = store::collect_environment(session_.site().worker().device,
                                                      session_.site().worker().driver, 0, "", "");
  run_.tool_version = environment.redzone_version;
  run_.driver = environment.driver;
  run_.toolkit = environment.toolkit;
  run_.host = environment.host;
  run_.budget_seconds = std::chrono::duration<double>(options_.time).count();
  campaign_.seed = options_.shard.seed(run_.base_seed, 0);
  campaign_.device = session_.site().worker().device;
  campaign_.command = options_.command;
  const auto id = store_.begin_campaign(campaign_);
  if (!id) return tl::unexpected(id.error());
  run_.campaign = campaign_.id = *id;
  return book_.begin(run_);
}

Result<void> Nightly::prove() {
  const auto begun = Clock::now();
  const auto proof = session_.prove();
  if (interrupted()) return {};
  run_.proof_seconds += seconds_since(begun);
  if (proof)
    run_.planted_bugs_caught = static_cast<std::int64_t>(proof->caught);
  else
    run_.problem = proof.error().message;
  return book_.update(run_);
}

Result<void> Nightly::replay() {
  auto until = Clock::time_point::max();
  if (options_.time.count() > 0) {
    const double left = NightlyOptions::kReplayShare * run_.budget_seconds - run_.replay_seconds;
    until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                               std::chrono::duration<double>(std::max(0.0, left)));
  }
  NightReplays replays({session_, store_, book_, run_, options_.shard}, until);
  return replays.run(options_.corpus);
}

// How the time of fuzzing is divided: by what earlier nights, on any runner, yielded.
Result<std::vector<double>> Nightly::shares() {
  const auto runs = book_.runs();
  if (!runs) return tl::unexpected(runs.error());
  const auto findings = store_.findings();
  if (!findings) return tl::unexpected(findings.error());
  std::map<std::pair<std::int64_t, std::string>, int> yield;  // campaign, target
  for (const auto& f : *findings)
    if (f.state == FindingState::confirmed || f.state == FindingState::flaky)
      ++yield[{f.campaign, f.signature.target}];
  std::vector<campaign::TargetPast> pasts(selection_.targets.size());
  for (auto run = runs->rbegin(); run != runs->rend(); ++run) {
    if (run->campaign == run_.campaign) continue;
    if (!pasts.empty() && pasts.front().size() == kNightsLookedAt) break;
    const auto targets = book_.targets(run->campaign);
    if (!targets) return tl::unexpected(targets.error());
    for (std::size_t i = 0; i < pasts.size(); ++i) {
      const std::string& name = selection_.targets[i]->spec.name;
      campaign::PastNight night;
      for (const auto& t : *targets)
        if (t.target == name) night.device_seconds = t.device_seconds;
      if (const auto it = yield.find({run->campaign, name}); it != yield.end())
        night.findings = it->second;
      pasts[i].push_back(night);
    }
  }
  return campaign::fuzz_shares(pasts);
}

Result<void> Nightly::fuzz() {
  for (const auto& [target, why] : selection_.skipped) {
    store::NightTarget skipped;
    skipped.target = target;
    skipped.not_fuzzed = why;
    if (auto r = book_.target(run_.campaign, skipped); !r) return r;
  }
  if (selection_.targets.empty()) return {};
  auto time = options_.time;
  if (time.count() > 0) {
    time -= std::chrono::milliseconds(static_cast<std::int64_t>(1000 * seconds_used()));
    if (time.count() < 1) return {};  // cut off just before its end
  }
  const auto shares = this->shares();
  if (!shares) return tl::unexpected(shares.error());
  const auto before = book_.targets(run_.campaign);
  if (!before) return tl::unexpected(before.error());
  fuzzed_before_ = run_.fuzz_seconds;

  const std::uint64_t seed = options_.shard.seed(run_.base_seed, run_.resumed);
  std::vector<campaign::TargetUnderTest> targets;
  for (std::size_t i = 0; i < selection_.targets.size(); ++i) {
    const TargetEntry& entry = *selection_.targets[i];
    targets.push_back({&entry.spec,
                       engine::generated_plans(entry.spec, session_.site().device(),
                                               session_.site().worker(), seed),
                       session_.site().environment(entry), (*shares)[i]});
    store::NightTarget so_far;
    so_far.target = entry.spec.name;
    for (const auto& t : *before)
      if (t.target == so_far.target) so_far = t;
    targets.back().plans_before = static_cast<std::uint64_t>(so_far.plans);
    so_far.share = (*shares)[i];
    so_far.not_fuzzed.clear();
    targets_.push_back(std::move(so_far));
  }

  Watch watch;
  bool stalled = false;
  Result<void> kept;
  ProgressPrinter printer;
  auto options = engine::campaign_options(session_, time, options_.plans);
  options.id = run_.campaign;
  options.stop = [&] { return interrupted() || stalled || !kept; };
  options.barred = [&](const std::string& target) { return quarantines_.of(target) != nullptr; };
  options.progress = [&](const campaign::Progress& p) {
    kept = keep(p.targets, p.stats);
    if (kept) printer(p);
    watch(p.stats);
    stalled = stalled || watch.stalled(p.stats);
  };
  engine::StoreSink sink(store_);
  campaign::Campaign fuzzing(session_.executor(), session_.site().catalog(), engine::simplify_for(),
                             sink, std::move(targets), std::move(options));
  const auto result = fuzzing.run();
  printer.end();
  if (const std::string why = session_.not_compiled_ahead(); !why.empty()) print_note(why);
  if (!result) return tl::unexpected(result.error());
  if (!kept) return kept;
  if (auto r = keep(result->targets, result->stats); !r) return r;
  if (!stalled || interrupted()) return {};
  run_.problem = lost_device(session_);
  if (run_.problem.empty())
    run_.problem = fmt::format("{} plans in a row could not be run", kPatience);
  return {};
}

Result<void> Nightly::keep(const std::vector<campaign::TargetStats>& now,
                           const CampaignStats& stats) {
  run_.fuzz_seconds = fuzzed_before_ + stats.seconds;
  std::vector<store::NightTarget> all = targets_;
  for (std::size_t i = 0; i < now.size(); ++i) {
    all[i].plans += now[i].plans;
    all[i].calls += now[i].calls;
    all[i].pass += now[i].pass;
    all[i].fail += now[i].fail;
    all[i].inconclusive += now[i].inconclusive;
    all[i].not_applicable += now[i].not_applicable;
    all[i].harness_errors += now[i].harness_errors;
    all[i].device_seconds += now[i].device_seconds;
    all[i].reference += now[i].reference;
    if (all[i].not_compared.empty()) all[i].not_compared = now[i].not_compared;
    if (const auto* q = quarantines_.of(now[i].target)) all[i].not_fuzzed = q->why;
  }
  return book_.keep(run_, sum(campaign_.stats, stats), all);
}

Result<void> Nightly::close(int exit_code) {
  const auto all = store_.resume_campaign(run_.campaign);
  if (!all) return tl::unexpected(all.error());
  if (auto r = store_.end_campaign(run_.campaign, all->stats); !r) return r;
  run_.exit_code = exit_code;
  return book_.update(run_);
}

}  // namespace redzone::cli
