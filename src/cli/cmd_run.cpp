// `redzone run`: a campaign.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <random>

#include "campaign/campaign.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/plans.h"
#include "cli/session.h"
#include "cli/store_sink.h"
#include "core/plan_text.h"
#include "report/json.h"
#include "report/text.h"

namespace redzone::cli {
namespace {

class Run final : public Command {
 public:
  std::string_view name() const override { return "run"; }
  std::string_view synopsis() const override { return "redzone run [TARGET...] [options]"; }
  std::string_view summary() const override {
    return "fuzz targets (all that are no puzzles, unless some or packages are named)";
  }
  void declare(po::options_description& flags,
               po::positional_options_description& words) const override {
    flags.add_options()("target", po::value<std::vector<std::string>>(), "targets to fuzz")(
        "puzzles", po::bool_switch(), "fuzz the puzzles, too")(
        "time", po::value<std::string>(), "how long (default: 60s, unless --plans is given)")(
        "plans", po::value<Count>(), "how many plans for each target")(
        "seed", po::value<Count>(), "of the generators (default: drawn)")(
        "launch", po::value<std::string>(),
        "blocking, async or gated: how the first trial of each plan launches (default: gated)")(
        "allocator", po::value<std::string>(),
        "guard, plain, pool or caching for all plans (default: drawn for each)")(
        "lazy", po::bool_switch(),
        "packages under the launch that compiles, tunes and freezes on the first call");
    words.add("target", -1);
    add_sanitizer_flag(flags);
    add_device_flag(flags);
    add_db_flag(flags);
    add_plugin_flag(flags);
    add_package_flag(flags);
    add_worker_flags(flags);
    add_json_flag(flags);
  }
  Result<int> run(const po::variables_map& flags) override;
};

struct Selection {
  std::vector<const TargetEntry*> targets;
  std::vector<std::string> skipped;  // "name: reason"
};

// The packages of --package are what is to be fuzzed, unless targets are named.
bool is_given_package(const TargetEntry& entry, const po::variables_map& flags) {
  if (!entry.is_package || flags.count("package") == 0) return false;
  const auto& given = flags["package"].as<std::vector<std::string>>();
  return std::find(given.begin(), given.end(), entry.plugin) != given.end();
}

// A package that is asked for, by name or by --package, where there is no device for it.
std::optional<std::string> no_device_for(const TargetEntry& entry, const Session& session) {
  if (!entry.is_package || session.registry().find(entry.spec.name, session.device()) != nullptr)
    return std::nullopt;
  return fmt::format("{}: its kernels are compiled for a GPU, and the device is {}",
                     entry.spec.name, name_of(session.device()));
}

// Whether a target that nobody named is one of those to fuzz. A package is, under the launch that
// was asked for.
bool is_wanted_unnamed(const TargetEntry& entry, const po::variables_map& flags) {
  const bool packages = flags.count("package") != 0, lazy = flags["lazy"].as<bool>();
  if (packages && !is_given_package(entry, flags)) return false;
  if (entry.is_package ? entry.is_lazy != lazy : lazy) return false;
  switch (entry.spec.category) {
    case Category::kernel:
      return flags.count("target") == 0;
    case Category::puzzle:
      return flags["puzzles"].as<bool>();
    case Category::twin:
    case Category::selftest:
      break;
  }
  return false;
}

Result<Selection> select(const Session& session, const po::variables_map& flags) {
  Selection out;
  std::vector<const TargetEntry*> wanted;
  const auto want = [&](const TargetEntry* entry) {
    if (std::find(wanted.begin(), wanted.end(), entry) == wanted.end()) wanted.push_back(entry);
  };
  const auto skip = [&](std::string why) {
    if (std::find(out.skipped.begin(), out.skipped.end(), why) == out.skipped.end())
      out.skipped.push_back(std::move(why));
  };
  if (flags.count("target") != 0) {
    for (const auto& name : flags["target"].as<std::vector<std::string>>()) {
      const auto* package = session.registry().find(name, DeviceKind::cuda);
      if (package != nullptr)
        if (auto why = no_device_for(*package, session)) {
          skip(*why);
          continue;
        }
      auto entry = session.registry().require(name, session.device());
      if (!entry) return tl::unexpected(entry.error());
      want(*entry);
    }
  }
  for (const auto& entry : session.registry().entries()) {
    if (!is_wanted_unnamed(entry, flags)) continue;
    if (session.registry().find(entry.spec.name, session.device()) == &entry)
      want(&entry);
    else if (auto why = no_device_for(entry, session); why && flags.count("package") != 0)
      skip(*why);
  }
  if (wanted.empty() && out.skipped.empty() && flags["lazy"].as<bool>())
    return usage_error("--lazy: there is no package to launch so; --package names one");
  for (const auto* entry : wanted) {
    if (auto why = session.cannot_run(entry->spec))
      out.skipped.push_back(entry->spec.name + ": " + *why);
    else
      out.targets.push_back(entry);
  }
  return out;
}

// A line that rewrites itself on a terminal; every ten seconds a plain one in a log.
class ProgressPrinter {
 public:
  void operator()(const campaign::Progress& p) {
    const auto& s = p.stats;
    report::Progress progress{s.seconds,      s.plans,          s.calls, s.suspects,
                              s.new_findings, s.known_findings, {},      {}};
    if (p.seconds_left >= 0) progress.seconds_left = p.seconds_left;
    if (p.plans_left) progress.plans_left = p.plans_left;
    if (terminal_) {
      fmt::print(stderr, "\r{}\033[K", report::progress_line(progress));
      written_ = true;
    } else if (s.seconds >= next_) {
      fmt::print(stderr, "{}", report::progress_log(progress));
      next_ = s.seconds + 10;
    }
  }
  void end() const {
    if (written_) fmt::print(stderr, "\r\033[K");
  }

 private:
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  bool written_ = false;
  double next_ = 10;
};

int exit_code(const campaign::CampaignResult& result) {
  if (result.stopped) return kInterrupted;
  if (!result.new_ids.empty()) return kFound;
  const auto& s = result.stats;
  if (s.pass + s.fail > s.harness_errors) return kOk;
  return s.harness_errors > 0 ? kHarness : kNotJudged;
}

Result<campaign::CampaignOptions> campaign_options(const Session& session,
                                                   const po::variables_map& flags) {
  campaign::CampaignOptions options;
  auto time = duration_flag(flags, "time");
  if (!time) return tl::unexpected(time.error());
  if (flags.count("plans") != 0) options.plans_per_target = flags["plans"].as<Count>().value;
  if (flags.count("plans") != 0 && options.plans_per_target == 0)
    return usage_error("--plans: must be at least 1");
  if (*time)
    options.time = **time;
  else if (options.plans_per_target == 0)
    options.time = std::chrono::seconds(60);
  options.deadline = session.deadline();
  options.fault_cost = std::chrono::milliseconds(session.device() == DeviceKind::cuda ? 300 : 10);
  options.triage = session.triage_options();
  // A short campaign would rather show ten findings than one that is as small as it gets.
  if (options.time.count() > 0)
    options.triage.reduce_time =
        std::min(options.triage.reduce_time,
                 std::max<std::chrono::milliseconds>(options.time / 12, std::chrono::seconds(2)));
  options.stop = [] { return interrupted(); };
  return options;
}

// The command with all of its flags; the seed also where it was drawn.
std::string typed(const po::variables_map& flags, std::uint64_t seed) {
  std::string out = "redzone run";
  if (flags.count("target") != 0)
    for (const auto& name : flags["target"].as<std::vector<std::string>>()) out += " " + name;
  if (const std::string given = given_flags(flags, "target"); !given.empty()) out += " " + given;
  if (flags.count("seed") == 0) out += fmt::format(" --seed {}", seed);
  return out;
}

// What the oracles of the catalog say nothing of is worth a word where it is not all of them.
report::Scope scope_of(const oracles::Catalog& catalog) {
  report::Scope scope;
  const auto judged = catalog.all();
  for (const auto* oracle : judged) scope.judged.emplace_back(oracle->name());
  const oracles::Catalog complete;
  for (const auto* oracle : complete.all())
    if (catalog.find(oracle->name()) == nullptr) scope.not_judged.emplace_back(oracle->name());
  return scope;
}

Result<store::Campaign> stored_campaign(store::Store& store, std::int64_t id) {
  auto all = store.campaigns();
  if (!all) return tl::unexpected(all.error());
  for (auto& campaign : *all)
    if (campaign.id == id) return std::move(campaign);
  return harness_error(fmt::format("campaign {} is gone from the store", id));
}

Result<int> Run::run(const po::variables_map& flags) {
  watch_interrupts();
  auto wanted = session_options(flags, Workload::campaign);
  if (!wanted) return tl::unexpected(wanted.error());
  const auto launch = launch_flag(flags);
  if (!launch) return tl::unexpected(launch.error());
  if (*launch) wanted->screen.relaxed = **launch;
  const auto allocator = allocator_flag(flags);
  if (!allocator) return tl::unexpected(allocator.error());
  auto opened = Session::open(*wanted);
  if (!opened) return tl::unexpected(opened.error());
  Session& session = **opened;
  auto selection = select(session, flags);
  if (!selection) return tl::unexpected(selection.error());
  auto options = campaign_options(session, flags);
  if (!options) return tl::unexpected(options.error());
  for (const auto& line : selection->skipped) fmt::print(stderr, "not applicable: {}\n", line);
  if (selection->targets.empty()) return kNotJudged;

  const auto proof = session.prove(*allocator);
  if (interrupted()) return kInterrupted;
  if (!proof) return tl::unexpected(proof.error());
  const report::SelfProof shown{proof->caught, proof->took};

  const std::uint64_t seed = flags.count("seed") != 0 ? flags["seed"].as<Count>().value
                                                      : std::random_device{}() & 0x7fffffffu;
  std::vector<campaign::TargetUnderTest> targets;
  for (const auto* entry : selection->targets) {
    targets.push_back(
        {&entry->spec,
         generated_plans(entry->spec, session.device(), session.hello(), seed, *allocator),
         session.environment(*entry)});
  }
  auto store = open_store(flags, store::OpenMode::read_write_create);
  if (!store) return tl::unexpected(store.error());
  store::Campaign campaign;
  campaign.seed = seed;
  campaign.device = session.hello().device;
  campaign.command = typed(flags, seed);
  auto id = store->begin_campaign(campaign);
  if (!id) return tl::unexpected(id.error());
  options->id = campaign.id = *id;

  ProgressPrinter printer;
  options->progress = [&](const campaign::Progress& p) {
    printer(p);
    // Progress in the store is a courtesy; an error will show at the next finding.
    (void)store->update_campaign(*id, p.stats);
  };
  StoreSink sink(*store);
  campaign::Campaign fuzzing(session.executor(), session.catalog(), simplify_for(), sink,
                             std::move(targets), std::move(*options));
  auto result = fuzzing.run();
  printer.end();
  if (!result) return tl::unexpected(result.error());
  if (auto ended = store->end_campaign(*id, result->stats); !ended)
    return tl::unexpected(ended.error());
  auto ended_campaign = stored_campaign(*store, *id);
  if (!ended_campaign) return tl::unexpected(ended_campaign.error());
  campaign = std::move(*ended_campaign);
  // As stored: of a bug that was known before, the better of both plans.
  std::vector<store::Finding> found;
  for (const auto& f : result->findings) {
    auto stored = store->finding(f.id);
    if (!stored) return tl::unexpected(stored.error());
    found.push_back(std::move(*stored));
  }
  const std::string db = db_for_commands(flags);
  const report::Scope scope = scope_of(session.catalog());
  std::cout << (json_wanted(flags) ? report::campaign_json(campaign, found, shown, db, scope)
                                   : report::campaign_text(campaign, found, shown, db, scope));
  return exit_code(*result);
}

}  // namespace

std::unique_ptr<Command> make_run() {
  return std::make_unique<Run>();
}

}  // namespace redzone::cli
