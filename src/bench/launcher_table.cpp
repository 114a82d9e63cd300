#include "bench/launcher_table.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "bench/cells.h"
#include "bench/detection.h"
#include "bench/workload.h"
#include "core/device_traits.h"
#include "exec/tiered.h"

namespace redzone::bench {
namespace {

constexpr std::size_t kQuickRows = 3;

// A naming convention of the project: "puzzle.lazy_grid_frozen".
bool is_lazy_part(std::string_view name) {
  return name.substr(name.rfind('.') + 1).starts_with("lazy_");
}

// The launchers, sorted by name, from the dry-run device, which has all of them. For packages this
// includes the plain launcher.
std::vector<const TargetEntry*> launchers(const Setup& setup, Category category) {
  const DeviceKind device = setup.none->device;
  const bool packages = has_packages(setup.registry, device);
  std::vector<const TargetEntry*> all;
  for (const auto* entry : setup.registry.entries_for(device))
    if (entry->spec.category == category && entry->is_package() == packages &&
        (packages || is_lazy_part(entry->spec.name)))
      all.push_back(entry);
  if (setup.effort.quick && all.size() > kQuickRows) all.resize(kQuickRows);
  return all;
}

std::string not_here(const Setup& setup) {
  return fmt::format("its kernels do not run on {}", name_of(setup.device));
}

// All columns except the first, which is a dry run.
std::vector<Way> native_ways(const Setup& setup, const Oracle* one_run) {
  const Oracle* memcheck = &setup.catalog.sanitizer(SanitizerTool::memcheck);
  return {{{"guard", "one gated trial over the guard arena: a fault, a canary, a wrong number"},
           one_run,
           Launch::gated},
          {{"screen", "the two trials of the screen, which also hear what the launcher tells"},
           &setup.catalog.screen(),
           Launch::gated},
          {{"memcheck-caching", "records of memcheck over a caching allocator, async"},
           memcheck,
           Launch::async,
           Allocator::caching},
          {{"memcheck-guard", "records of memcheck over the guard arena, async"},
           memcheck,
           Launch::async}};
}

class Mistakes {
 public:
  Mistakes(const Setup& setup, const Setup& none, LauncherTable& out)
      : setup_(setup),
        none_(none),
        out_(out),
        ways_(native_ways(setup, &one_run_)),
        dry_{{"none", "one trial without a kernel: what the launcher asks for and launches"},
             &none.catalog.screen(),
             Launch::gated},
        pool_(setup.pool),
        dry_pool_(none.pool),
        executor_(
            pool_,
            {.sanitized = setup.sanitized, .slowdown = kToolSlowdown, .interrupted = setup.stop}) {
    out_.plans = setup.effort.launcher_trials;
    out_.columns.push_back(dry_.column);
    for (const auto& way : ways_) out_.columns.push_back(way.column);
  }

  Result<void> wait_ready() {
    for (auto* pool : {&pool_, &dry_pool_}) RZ_TRY(pool->wait_ready(std::chrono::seconds(60)));
    return {};
  }

  Result<void> add(const TargetEntry& puzzle) {
    setup_.say(fmt::format("launchers, {}", puzzle.spec.name));
    LauncherRow row{.puzzle = puzzle.spec.name};
    const auto plans = small_plans(puzzle.spec, setup_.effort.launcher_trials);
    row.cells.push_back(
        measure_cell(none_, dry_pool_, puzzle.spec, plans, dry_, setup_.effort.launcher_cell));
    RZ_TRY_ASSIGN(auto dry, measure_detection(none_, puzzle, setup_.effort.seeds.front()));
    row.none = std::move(dry);
    RZ_TRY(add_native(row, plans));
    if (setup_.stop()) return {};  // a partial row is not comparable
    out_.rows.push_back(std::move(row));
    return {};
  }

 private:
  Result<void> add_native(LauncherRow& row, const std::vector<Plan>& plans) {
    const TargetEntry* puzzle = setup_.registry.find(row.puzzle, setup_.device);
    if (puzzle == nullptr) {
      row.cells.insert(row.cells.end(), ways_.size(), ModeCell{.why_not = not_here(setup_)});
      row.native = {.puzzle = row.puzzle, .why_not = not_here(setup_)};
      return {};
    }
    if (!std::exchange(warm_, true)) warm_up(setup_, executor_, puzzle->spec, ways_);
    for (const auto& way : ways_)
      row.cells.push_back(
          measure_cell(setup_, executor_, puzzle->spec, plans, way, setup_.effort.launcher_cell));
    RZ_TRY_ASSIGN(auto found, measure_detection(setup_, *puzzle, setup_.effort.seeds.front()));
    row.native = std::move(found);
    return {};
  }

  const Setup& setup_;
  const Setup& none_;
  LauncherTable& out_;
  const OneRun one_run_;
  const std::vector<Way> ways_;
  const Way dry_;
  exec::Pool pool_, dry_pool_;
  exec::TieredExecutor executor_;
  bool warm_ = false;
};

// Counts the distinct knob settings in its plans.
class Counted final : public campaign::PlanSource {
 public:
  Counted(std::unique_ptr<campaign::PlanSource> plans, std::set<Config>& seen)
      : plans_(std::move(plans)), seen_(seen) {}
  Plan next() override {
    Plan plan = plans_->next();
    for (const auto* step : calls_of(plan)) seen_.insert(step->call.config);
    return plan;
  }

 private:
  std::unique_ptr<campaign::PlanSource> plans_;
  std::set<Config>& seen_;
};

// Stores nothing; the campaign's statistics count the suspects.
class NoStore final : public campaign::FindingSink {
 public:
  Result<campaign::Recorded> record(const Finding&) override {
    return campaign::Recorded{1, false};
  }
  Result<campaign::Recorded> update(const Finding& finding) override {
    return campaign::Recorded{finding.id, false};
  }
  Result<void> sighted(std::int64_t, std::int64_t) override { return {}; }
  bool settled(const Signature&) override { return true; }
  Result<void> evidence(std::int64_t, std::string_view, const Plan&,
                        const campaign::Answer&) override {
    return {};
  }
};

Result<CorrectLauncher> measure_correct(const Setup& setup, const TargetEntry& launcher) {
  setup.say(fmt::format("correct launcher, {}", launcher.spec.name));
  CorrectLauncher out{.target = launcher.spec.name};
  exec::Pool pool(setup.pool);
  RZ_TRY(pool.wait_ready(std::chrono::seconds(60)));
  std::uint64_t calls = 0;
  std::set<Config> settings;
  campaign::CampaignOptions options;
  options.time = setup.effort.correct;
  options.deadline = setup.deadline;
  options.triage = setup.triage;
  options.progress = [&](const campaign::Progress& p) { calls = p.stats.calls; };
  options.stop = [&] { return calls >= setup.effort.correct_calls || setup.stop(); };
  std::vector<campaign::TargetUnderTest> targets;
  targets.push_back(
      {&launcher.spec, std::make_unique<Counted>(setup.plans(launcher.spec, 1), settings), {}});
  NoStore sink;
  campaign::Campaign campaign(pool, setup.catalog, setup.simplify, sink, std::move(targets),
                              std::move(options));
  RZ_TRY_ASSIGN(const auto result, campaign.run());
  out.wanted_calls = setup.effort.correct_calls;
  out.calls = result.stats.calls;
  out.plans = result.stats.plans;
  out.settings = settings.size();
  out.suspects = result.stats.suspects;
  out.seconds = result.stats.seconds;
  return out;
}

Result<void> measure_mistakes(const Setup& setup, LauncherTable& out) {
  Mistakes table(setup, *setup.none, out);
  RZ_TRY(table.wait_ready());
  for (const auto* puzzle : launchers(setup, Category::puzzle)) {
    if (setup.stop()) break;
    RZ_TRY(table.add(*puzzle));
  }
  return {};
}

}  // namespace

Result<void> measure_launchers(const Setup& setup, Report& report) {
  RZ_TRY(measure_mistakes(setup, report.launchers));
  for (const auto* launcher : launchers(setup, Category::kernel)) {
    if (setup.stop()) return {};
    const TargetEntry* native = setup.registry.find(launcher->spec.name, setup.device);
    RZ_TRY_ASSIGN(auto measured, native != nullptr ? measure_correct(setup, *native)
                                                   : CorrectLauncher{.target = launcher->spec.name,
                                                                     .why_not = not_here(setup)});
    if (setup.stop()) return {};
    report.launchers.correct.push_back(std::move(measured));
  }
  return {};
}

}  // namespace redzone::bench
