#include "nightly/nightly.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>
#include <map>

#include "campaign/shares.h"
#include "core/campaign_record.h"
#include "engine/store_sink.h"
#include "nightly/replays.h"

namespace redzone::nightly {
namespace {

// Number of earlier nights whose results determine how time is divided.
constexpr std::size_t kNightsLookedAt = 14;
// Number of consecutive plans that the harness cannot run after which it checks the device.
constexpr std::uint64_t kPlansLost = 40;

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
  names.reserve(corpus.size());
  for (const auto& plan : corpus) names.push_back(plan.name);
  return sorted_list(std::move(names));
}

// Detects that no plan can be run any more.
class Watch {
 public:
  void operator()(const CampaignStats& stats) {
    if (stats.plans - stats.harness_errors == judged_) return;
    judged_ = stats.plans - stats.harness_errors;
    errors_ = stats.harness_errors;
  }
  bool stalled(const CampaignStats& stats) const {
    return stats.harness_errors >= errors_ + kPlansLost;
  }

 private:
  std::uint64_t judged_ = 0, errors_ = 0;
};

}  // namespace

Nightly::Nightly(const Means& means, store::Store& store, const engine::Selection& selection,
                 const NightlyOptions& options)
    : means_(means),
      store_(store),
      book_(store),
      selection_(selection),
      options_(options),
      quarantines_(store, means.clock.now) {
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
  RZ_TRY(resume());
  if (run_.campaign == 0) RZ_TRY(begin());
  RZ_TRY(prove());
  if (goes_on()) RZ_TRY(replay());
  if (goes_on()) RZ_TRY(fuzz());
  return book_.update(run_);
}

std::string Nightly::difference(const store::NightRun& run, const std::string& device) const {
  if (device != means_.site.worker().device) return "was on " + device;
  if (run.asked_targets != run_.asked_targets) return "had other targets";
  if (run.asked_corpus != run_.asked_corpus) return "had another corpus";
  if (run.commit != options_.commit) return "was of another commit";
  if (options_.seed && *options_.seed != run.base_seed) return "had another seed";
  return "";
}

Result<bool> Nightly::resume() {
  RZ_TRY_ASSIGN(const auto runs, book_.runs());
  const std::string oldest = means_.clock.days_ago(NightlyOptions::kResumeDays);
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    const bool too_old = run->fleet.empty() && run->began < oldest;
    if (run->exit_code != store::NightRun::kUnfinished || run->fleet != options_.fleet || too_old ||
        run->shard != options_.shard.index || run->shards != options_.shard.count)
      continue;
    RZ_TRY_ASSIGN(const auto begun, store_.campaign(run->campaign));
    if (!begun.ended.empty()) continue;
    if (const std::string other = difference(*run, begun.device); !other.empty()) {
      means_.note(fmt::format("nightly: night {} was cut off and is not resumed: it {}",
                              run->campaign, other));
      continue;
    }
    RZ_TRY_ASSIGN(auto campaign, store_.resume_campaign(run->campaign));
    campaign_ = std::move(campaign);
    run_ = *run;
    run_.budget_seconds = std::chrono::duration<double>(options_.time).count();
    ++run_.resumed;
    means_.note(
        fmt::format("nightly: resumes night {}, which was cut off after {:.0f} s of its time: {}",
                    run_.campaign, seconds_used(), campaign_.command));
    RZ_TRY(book_.update(run_));
    return true;
  }
  return false;
}

Result<void> Nightly::begin() {
  RZ_TRY_ASSIGN(auto now, store_.moment());
  run_.began = std::move(now);
  run_.base_seed = options_.seed.value_or(XXH3_64bits(run_.began.data(), run_.began.size()));
  run_.shard = options_.shard.index;
  run_.shards = options_.shard.count;
  run_.fleet = options_.fleet;
  run_.commit = options_.commit;
  const Environment environment = means_.site.environment();
  run_.tool_version = environment.redzone_version;
  run_.driver = environment.driver;
  run_.toolkit = environment.toolkit;
  run_.host = environment.host;
  run_.budget_seconds = std::chrono::duration<double>(options_.time).count();
  campaign_.seed = options_.shard.seed(run_.base_seed, 0);
  campaign_.device = means_.site.worker().device;
  campaign_.command = options_.command;
  RZ_TRY_ASSIGN(const auto id, store_.begin_campaign(campaign_));
  run_.campaign = campaign_.id = id;
  return book_.begin(run_);
}

Result<void> Nightly::prove() {
  const auto begun = means_.clock.now();
  const auto proof = means_.prove();
  if (interrupted()) return {};
  run_.proof_seconds += means_.clock.seconds_since(begun);
  if (proof)
    run_.planted_bugs_caught = static_cast<std::int64_t>(proof->caught);
  else
    run_.problem = proof.error().message;
  return book_.update(run_);
}

Result<void> Nightly::replay() {
  auto until = Clock::Time::max();
  if (options_.time.count() > 0) {
    const double left = NightlyOptions::kReplayShare * run_.budget_seconds - run_.replay_seconds;
    until = means_.clock.now() + std::chrono::duration_cast<Clock::Time::duration>(
                                     std::chrono::duration<double>(std::max(0.0, left)));
  }
  NightReplays replays(
      {.means = means_, .store = store_, .book = book_, .run = run_, .shard = options_.shard},
      until);
  return replays.run(options_.corpus);
}

// The shares of the fuzzing time, from the results of earlier nights on any runner.
Result<std::vector<double>> Nightly::shares() {
  RZ_TRY_ASSIGN(const auto runs, book_.runs());
  RZ_TRY_ASSIGN(const auto findings, store_.findings());
  std::map<std::pair<std::int64_t, std::string>, int> yield;  // campaign, target
  for (const auto& f : findings)
    if (was_found(f.state)) ++yield[{f.campaign, f.signature.target}];
  std::vector<campaign::TargetPast> pasts(selection_.targets.size());
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    if (run->campaign == run_.campaign) continue;
    if (!pasts.empty() && pasts.front().size() == kNightsLookedAt) break;
    RZ_TRY_ASSIGN(const auto targets, book_.targets(run->campaign));
    for (std::size_t i = 0; i < pasts.size(); ++i) {
      const std::string& name = selection_.targets[i]->spec.name;
      campaign::PastNight night;
      for (const auto& t : targets)
        if (t.target == name) night.device_seconds = t.device_seconds;
      if (const auto it = yield.find({run->campaign, name}); it != yield.end())
        night.findings = it->second;
      pasts[i].push_back(night);
    }
  }
  return campaign::fuzz_shares(pasts);
}

struct Nightly::Fuzzing {
  std::vector<double> shares;
  std::vector<store::NightTarget> before;  // from the earlier parts of this night
  std::vector<campaign::TargetUnderTest> targets = {};
};

void Nightly::add_targets(Fuzzing& fuzzing) {
  const std::uint64_t seed = options_.shard.seed(run_.base_seed, run_.resumed);
  for (std::size_t i = 0; i < selection_.targets.size(); ++i) {
    const TargetEntry& entry = *selection_.targets[i];
    store::NightTarget so_far;
    so_far.target = entry.spec.name;
    for (const auto& t : fuzzing.before)
      if (t.target == so_far.target) so_far = t;
    fuzzing.targets.push_back({.spec = &entry.spec,
                               .source = means_.plans(entry.spec, seed),
                               .environment = means_.site.environment(entry),
                               .weight = fuzzing.shares[i],
                               .plans_before = so_far.plans});
    so_far.share = fuzzing.shares[i];
    so_far.not_fuzzed.clear();
    targets_.push_back(std::move(so_far));
  }
}

Result<void> Nightly::tell_skipped() {
  for (const auto& [target, why] : selection_.skipped) {
    store::NightTarget skipped;
    skipped.target = target;
    skipped.not_fuzzed = why;
    RZ_TRY(book_.target(run_.campaign, skipped));
  }
  return {};
}

Result<void> Nightly::fuzz() {
  RZ_TRY(tell_skipped());
  if (selection_.targets.empty()) return {};
  auto time = options_.time;
  if (time.count() > 0) {
    time -= std::chrono::milliseconds(static_cast<std::int64_t>(1000 * seconds_used()));
    if (time.count() < 1) return {};  // the night was cut off just before its end
  }
  RZ_TRY_ASSIGN(auto shares, this->shares());
  RZ_TRY_ASSIGN(auto before, book_.targets(run_.campaign));
  Fuzzing with{.shares = std::move(shares), .before = std::move(before)};
  add_targets(with);
  fuzzed_before_ = run_.fuzz_seconds;

  Watch watch;
  bool stalled = false;
  Result<void> kept;
  auto options = means_.fuzzing(time, options_.plans);
  options.id = run_.campaign;
  options.now = means_.clock.now;
  options.stop = [&] { return interrupted() || stalled || !kept; };
  options.quarantined = [&](const std::string& target) {
    return quarantines_.of(target) != nullptr;
  };
  options.progress = [&](const campaign::Progress& p) {
    kept = keep(p.targets, p.stats);
    if (kept) means_.progress(p);
    watch(p.stats);
    stalled = stalled || watch.stalled(p.stats);
  };
  engine::StoreSink sink(store_);
  campaign::Campaign fuzzing(means_.executor, means_.site.catalog_for(selection_.targets),
                             means_.simplify, sink, std::move(with.targets), std::move(options));
  const auto result = fuzzing.run();
  means_.fuzzed();
  if (!result) return tl::unexpected(result.error());
  for (const auto& slow : result->slow_functions)
    means_.note(fmt::format("nightly: more than half of the time went into specs: {}", slow));
  if (!kept) return kept;
  RZ_TRY(keep(result->targets, result->stats));
  if (!stalled || interrupted()) return {};
  run_.problem = lost_device(means_);
  if (run_.problem.empty())
    run_.problem = fmt::format("{} plans in a row could not be run", kPlansLost);
  return {};
}

Result<void> Nightly::keep(const std::vector<campaign::TargetStats>& now,
                           const CampaignStats& stats) {
  run_.fuzz_seconds = fuzzed_before_ + stats.seconds;
  std::vector<store::NightTarget> all = targets_;
  for (std::size_t i = 0; i < now.size(); ++i) {
    all[i] += now[i];
    if (const auto* q = quarantines_.of(now[i].target)) all[i].not_fuzzed = q->why;
  }
  CampaignStats sum = campaign_.stats;
  return book_.keep(run_, sum += stats, all);
}

Result<void> Nightly::close(int exit_code) {
  RZ_TRY_ASSIGN(const auto campaign, store_.campaign(run_.campaign));
  RZ_TRY(store_.end_campaign(run_.campaign, campaign.stats));
  run_.exit_code = exit_code;
  return book_.update(run_);
}

}  // namespace redzone::nightly
