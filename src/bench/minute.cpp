#include "bench/minute.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/temporary_folder.h"
#include "engine/engine.h"
#include "engine/selection.h"
#include "engine/stored_campaign.h"

namespace redzone::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Targets = std::vector<const TargetEntry*>;

constexpr std::size_t kFaultingBeside = 2;

std::vector<std::string> names_of(const Targets& targets) {
  std::vector<std::string> names;
  names.reserve(targets.size());
  for (const auto* target : targets) names.push_back(target->spec.name);
  return names;
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// A campaign like that of `redzone run`: with its own workers, after the self-proof, and stored.
class OneCampaign {
 public:
  OneCampaign(const engine::EngineOptions& options, std::uint64_t seed)
      : options_(options), seed_(seed) {
    options_.workload = engine::Workload::campaign;
  }

  Result<void> open() {
    RZ_TRY_ASSIGN(auto folder, TemporaryFolder::create("minute"));
    folder_.emplace(std::move(folder));
    const auto begun = Clock::now();
    RZ_TRY_ASSIGN(engine_, engine::Engine::open(options_));
    RZ_TRY(engine_->prove());
    startup_s_ = seconds_since(begun);
    RZ_TRY_ASSIGN(const auto selection, engine::select(engine_->site(), {.puzzles = true}, {}));
    for (const auto* target : selection.targets)
      (target->spec.category == Category::puzzle ? puzzles_ : kernels_).push_back(target);
    return {};
  }
  // Time until the first worker was ready and the self-proof had passed.
  double startup_s() const { return startup_s_; }
  // The targets that `redzone run --puzzles` selects.
  const Targets& kernels() const { return kernels_; }
  const Targets& puzzles() const { return puzzles_; }

  // Call this once only.
  Result<engine::StoredCampaign> run(const Targets& targets, std::chrono::milliseconds time,
                                     const engine::CampaignWatcher& watcher) {
    RZ_TRY_ASSIGN(auto store, store::Store::open(folder_->path() / "campaign.db",
                                                 store::OpenMode::read_write_create));
    const engine::CampaignRequest request{
        .targets = targets, .seed = seed_, .command = "redzone bench", .time = time};
    return engine::run_campaign(*engine_, store, request, watcher);
  }

 private:
  engine::EngineOptions options_;
  std::uint64_t seed_;
  std::optional<TemporaryFolder> folder_;
  std::unique_ptr<engine::Engine> engine_;
  double startup_s_ = 0;
  Targets kernels_, puzzles_;
};

// For each target, the number of plans per second that passed or failed.
using Rates = std::map<std::string, double>;

// The kernels' rates in a campaign on new workers. `beside`: names of puzzles that run in the same
// campaign.
Result<Rates> rates_of_kernels(const engine::EngineOptions& options, std::uint64_t seed,
                               const std::vector<std::string>& beside,
                               std::chrono::milliseconds time) {
  OneCampaign campaign(options, seed);
  RZ_TRY(campaign.open());
  Targets targets = campaign.kernels();
  for (const auto* puzzle : campaign.puzzles())
    if (std::find(beside.begin(), beside.end(), puzzle->spec.name) != beside.end())
      targets.push_back(puzzle);
  RZ_TRY_ASSIGN(const auto ran, campaign.run(targets, time, {}));
  Rates rates;
  for (const auto& stats : ran.result.targets)
    if (std::find(beside.begin(), beside.end(), stats.target) == beside.end())
      rates[stats.target] = static_cast<double>(stats.pass + stats.fail) / ran.result.stats.seconds;
  return rates;
}

Result<KernelShare> measure_share(const engine::EngineOptions& options, const Effort& effort,
                                  std::vector<std::string> faulting) {
  KernelShare share{.faulting = std::move(faulting)};
  if (share.faulting.size() < kFaultingBeside) {
    share.why_not = fmt::format("{} puzzles were found to fault, {} are needed",
                                share.faulting.size(), kFaultingBeside);
    return share;
  }
  const auto seed = effort.seeds.front();
  // The first run compiles the kernels for the other two, and is not counted.
  RZ_TRY(rates_of_kernels(options, seed, {}, effort.kernels));
  RZ_TRY_ASSIGN(const Rates alone, rates_of_kernels(options, seed, {}, effort.kernels));
  RZ_TRY_ASSIGN(const Rates beside,
                rates_of_kernels(options, seed, share.faulting, effort.kernels));
  for (const auto& [kernel, rate] : alone)
    if (rate > 0) share.kernels.push_back({kernel, rate, beside.at(kernel)});
  if (share.kernels.empty()) share.why_not = "no plan of a kernel was judged";
  return share;
}

}  // namespace

MinuteWatch::MinuteWatch(const std::vector<std::string>& puzzles, std::chrono::milliseconds time)
    : part_s_(std::chrono::duration<double>(time).count() / kMinuteParts),
      last_part_(puzzles.size()) {
  for (const auto& name : puzzles) puzzles_.push_back({.puzzle = name});
  std::sort(puzzles_.begin(), puzzles_.end(),
            [](const auto& a, const auto& b) { return a.puzzle < b.puzzle; });
}

MinutePuzzle* MinuteWatch::find(std::string_view name) {
  const auto it = std::lower_bound(puzzles_.begin(), puzzles_.end(), name,
                                   [](const auto& p, const auto& n) { return p.puzzle < n; });
  return it != puzzles_.end() && it->puzzle == name ? &*it : nullptr;
}

void MinuteWatch::progress(const campaign::Progress& progress) {
  const auto part =
      std::min(static_cast<std::size_t>(progress.stats.seconds / part_s_), kMinuteParts - 1);
  for (const auto& target : progress.targets) {
    MinutePuzzle* puzzle = find(target.target);
    if (puzzle == nullptr || target.plans == puzzle->plans) continue;
    puzzle->plans = target.plans;
    auto& last = last_part_[static_cast<std::size_t>(puzzle - puzzles_.data())];
    if (last != part) ++puzzle->parts;
    last = part;
  }
}

void MinuteWatch::found(const Finding& finding, double seconds) {
  MinutePuzzle* puzzle = find(finding.signature.target);
  if (puzzle == nullptr) return;
  if (!puzzle->confirmed_s) puzzle->confirmed_s = seconds;
  if (finding.minimal && !puzzle->minimal_s) puzzle->minimal_s = seconds;
}

std::vector<std::string> faulting_targets(const std::vector<Finding>& findings) {
  std::vector<std::string> out;
  for (const auto& f : findings) {
    const auto kind = f.signature.kind;
    if (!was_found(f.state) || !ends_trial(kind) || kind == FailKind::hang) continue;
    if (std::find(out.begin(), out.end(), f.signature.target) != out.end()) continue;
    out.push_back(f.signature.target);
    if (out.size() == kFaultingBeside) break;
  }
  return out;
}

Result<Minute> measure_minute(const engine::EngineOptions& options, const Effort& effort,
                              const std::function<void(const std::string&)>& say) {
  say("first minute: all puzzles");
  Minute out;
  std::vector<std::string> faulting;
  {
    OneCampaign campaign(options, effort.seeds.front());
    RZ_TRY(campaign.open());
    const Targets puzzles = enough_of(campaign.puzzles(), effort.quick);
    Targets targets = campaign.kernels();
    targets.insert(targets.end(), puzzles.begin(), puzzles.end());
    MinuteWatch watch(names_of(puzzles), effort.minute);
    RZ_TRY_ASSIGN(const auto ran,
                  campaign.run(targets, effort.minute,
                               {.progress = [&](const auto& p) { watch.progress(p); },
                                .found = [&](const auto& f, double s) { watch.found(f, s); }}));
    out.startup_s = campaign.startup_s();
    out.seconds = ran.result.stats.seconds;
    out.plans = ran.result.stats.plans;
    out.workers_lost = ran.result.stats.workers_lost;
    out.puzzles = watch.puzzles();
    faulting = faulting_targets(ran.result.findings);
    if (ran.result.stopped) return out;
  }
  say("first minute: the kernels, alone and beside two targets that fault");
  RZ_TRY_ASSIGN(out.share, measure_share(options, effort, std::move(faulting)));
  return out;
}

}  // namespace redzone::bench
