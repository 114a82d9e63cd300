// `redzone run`: a campaign.
#include <fmt/format.h>

#include <random>

#include "campaign/campaign.h"
#include "cli/commands.h"
#include "cli/engine_flags.h"
#include "cli/fuzzing.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/selection_flags.h"
#include "core/campaign_record.h"
#include "core/plan_text.h"
#include "core/terminal.h"
#include "engine/campaign_options.h"
#include "engine/plans.h"
#include "engine/store_sink.h"
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
    add_selection_flags(flags, words);
    flags.add_options()("time", po::value<std::string>(),
                        "how long (default: 60s, unless --plans is given)")(
        "plans", po::value<Count>(), "how many plans for each target")(
        "seed", po::value<Count>(), "of the generators (default: drawn)")(
        "launch", po::value<std::string>(),
        "blocking, async or gated: how the first trial of each plan launches (default: gated)")(
        "allocator", po::value<std::string>(),
        "guard, plain, pool or caching for all plans (default: drawn for each)");
    add_sanitizer_flag(flags);
    add_device_flag(flags);
    add_db_flag(flags);
    add_force_flag(flags);
    add_plugin_flag(flags);
    add_package_flag(flags);
    add_worker_flags(flags);
    add_compile_flag(flags);
    add_json_flag(flags);
  }
  Result<int> run(const po::variables_map& flags) override;
};

// `found`: what was seen, as it is stored.
int exit_code(const campaign::CampaignResult& result, const std::vector<Finding>& found) {
  if (result.stopped) return kInterrupted;
  // It failed, there was no time to confirm it, and nobody has marked it.
  const bool suspect = std::any_of(found.begin(), found.end(), [](const Finding& f) {
    return f.state == FindingState::suspect && f.ledger.standing == Standing::fresh;
  });
  if (!result.new_ids.empty() || suspect) return kFound;
  const auto& s = result.stats;
  if (s.pass + s.fail > s.harness_errors) return kOk;
  return s.harness_errors > 0 ? kHarness : kNotJudged;
}

Result<campaign::CampaignOptions> campaign_options(const engine::Engine& engine,
                                                   const po::variables_map& flags) {
  auto time = duration_flag(flags, "time");
  if (!time) return tl::unexpected(time.error());
  auto plans = plans_flag(flags);
  if (!plans) return tl::unexpected(plans.error());
  if (!*time && *plans == 0) *time = std::chrono::seconds(60);
  return engine::campaign_options(engine, time->value_or(std::chrono::milliseconds(0)), *plans);
}

// The command with all of its flags; the seed also where it was drawn.
std::string typed(const po::variables_map& flags, std::uint64_t seed) {
  std::string out = "redzone run";
  if (flags.count("target") != 0)
    for (const auto& name : flags["target"].as<std::vector<std::string>>())
      out += " " + shell_quoted(name);
  if (const std::string given = given_flags(flags, "target"); !given.empty()) out += " " + given;
  if (flags.count("seed") == 0) out += fmt::format(" --seed {}", seed);
  return out;
}

// What the oracles of the catalog say nothing of is worth a word where it is not all of them.
report::Scope scope_of(const oracles::Catalog& catalog, const campaign::CampaignResult& result) {
  report::Scope scope;
  for (const auto& u : result.unjudged)
    scope.unjudged.push_back({u.target, u.outcome, u.reason, u.plans});
  const auto judged = catalog.all();
  for (const auto* oracle : judged) scope.judged.emplace_back(oracle->name());
  const oracles::Catalog complete;
  for (const auto* oracle : complete.all())
    if (catalog.find(oracle->name()) == nullptr) scope.not_judged.emplace_back(oracle->name());
  if (!catalog.is_dry()) scope.why_not_judged = "the device draws no schedule from a seed";
  for (const auto& t : result.targets)
    if (t.reference.calls > 0) scope.compared.push_back({t.target, t.reference, t.not_compared});
  return scope;
}

Result<CampaignRecord> stored_campaign(store::Store& store, std::int64_t id) {
  auto all = store.campaigns();
  if (!all) return tl::unexpected(all.error());
  for (auto& campaign : *all)
    if (campaign.id == id) return std::move(campaign);
  return harness_error(fmt::format("campaign {} is gone from the store", id));
}

Result<int> Run::run(const po::variables_map& flags) {
  watch_interrupts();
  auto wanted = engine_options(flags, engine::Workload::campaign);
  if (!wanted) return tl::unexpected(wanted.error());
  const auto launch = launch_flag(flags);
  if (!launch) return tl::unexpected(launch.error());
  if (*launch) wanted->screen.relaxed = **launch;
  const auto allocator = allocator_flag(flags);
  if (!allocator) return tl::unexpected(allocator.error());
  auto opened = engine::Engine::open(*wanted);
  if (!opened) return tl::unexpected(opened.error());
  engine::Engine& engine = **opened;
  const engine::Site& site = engine.site();
  const auto quarantined = forbidden(flags);
  if (!quarantined) return tl::unexpected(quarantined.error());
  auto selection = engine::select(site, selection_options(flags), *quarantined);
  if (!selection) return tl::unexpected(selection.error());
  auto options = campaign_options(engine, flags);
  if (!options) return tl::unexpected(options.error());
  for (const auto& [target, why] : selection->skipped)
    print_note(fmt::format("not applicable: {}: {}", target, why));
  if (selection->targets.empty()) return kNotJudged;

  const auto proof = engine.prove(*allocator);
  if (interrupted()) return kInterrupted;
  if (!proof) return tl::unexpected(proof.error());
  const report::SelfProof shown{proof->caught, proof->took};

  const std::uint64_t seed = flags.count("seed") != 0 ? flags["seed"].as<Count>().value
                                                      : std::random_device{}() & 0x7fffffffu;
  std::vector<campaign::TargetUnderTest> targets;
  for (const auto* entry : selection->targets) {
    targets.push_back({.spec = &entry->spec,
                       .source = engine::generated_plans(entry->spec, site.device(), site.worker(),
                                                         seed, *allocator),
                       .environment = site.environment(*entry)});
  }
  auto store = open_store(flags, store::OpenMode::read_write_create);
  if (!store) return tl::unexpected(store.error());
  CampaignRecord campaign;
  campaign.seed = seed;
  campaign.device = site.worker().device;
  campaign.command = typed(flags, seed);
  auto id = store->begin_campaign(campaign);
  if (!id) return tl::unexpected(id.error());
  options->id = campaign.id = *id;

  ProgressPrinter printer;
  options->progress = [&](const campaign::Progress& p) {
    // What is printed is stored; an error will show at the next finding.
    if (store->update_campaign(*id, p.stats)) printer(p);
  };
  options->found = [&printer](const Finding& f, double seconds) { printer.found(f, seconds); };
  engine::StoreSink sink(*store);
  campaign::Campaign fuzzing(engine.executor(), site.catalog(), engine::simplify_for(), sink,
                             std::move(targets), std::move(*options));
  auto result = fuzzing.run();
  printer.end();
  if (const std::string why = engine.not_compiled_ahead(); !why.empty()) print_note(why);
  if (!result) return tl::unexpected(result.error());
  if (auto ended = store->end_campaign(*id, result->stats); !ended)
    return tl::unexpected(ended.error());
  auto ended_campaign = stored_campaign(*store, *id);
  if (!ended_campaign) return tl::unexpected(ended_campaign.error());
  campaign = std::move(*ended_campaign);
  // As stored: of a bug that was known before, the better of both plans.
  std::vector<Finding> found;
  for (const auto& f : result->findings) {
    auto stored = store->finding(f.id);
    if (!stored) return tl::unexpected(stored.error());
    found.push_back(std::move(*stored));
  }
  const std::string db = db_for_commands(flags);
  const report::Scope scope = scope_of(site.catalog(), *result);
  print_result(json_wanted(flags) ? report::campaign_json(campaign, found, shown, db, scope)
                                  : report::campaign_text(campaign, found, shown, db, scope));
  return exit_code(*result, found);
}

}  // namespace

std::unique_ptr<Command> make_run() {
  return std::make_unique<Run>();
}

}  // namespace redzone::cli
