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
#include "core/log.h"
#include "core/replay_outcome.h"
#include "core/run_result.h"
#include "core/terminal.h"
#include "engine/stored_campaign.h"
#include "report/json.h"
#include "report/text.h"

namespace redzone::cli {
namespace {

class Run final : public Command {
 public:
  std::string_view name() const override { return "run"; }
  std::string_view synopsis() const override { return "redzone run [TARGET...] [options]"; }
  std::string_view summary() const override {
    return "fuzz the named targets and packages (default: all targets except puzzles)";
  }
  void declare(po::options_description& flags,
               po::positional_options_description& words) const override {
    add_selection_flags(flags, words);
    flags.add_options()("time", po::value<std::string>(),
                        "time limit (default: 60s, unless --plans is given)")(
        "plans", po::value<Count>(), "plan limit for each target")(
        "findings", po::value<Count>(),
        "end once so many new findings are confirmed and reduced (default: no limit)")(
        "seed", po::value<Count>(), "seed of the generators (default: drawn)")(
        "launch", po::value<std::string>(),
        "launch mode of the first trial of each plan: blocking, async or gated (default: gated)")(
        "allocator", po::value<std::string>(),
        "allocator for all plans: guard, plain, pool or caching (default: drawn for each)");
    add_sanitizer_flag(flags);
    add_device_flag(flags);
    add_db_flag(flags);
    add_force_flag(flags);
    add_target_flags(flags);
    add_worker_flags(flags);
    add_compile_flag(flags);
    add_json_flag(flags);
  }
  Result<int> run(const po::variables_map& flags, Results& out) override;
};

// `found`: the findings as stored.
int exit_code_of_run(const campaign::CampaignResult& result, const std::vector<Finding>& found) {
  if (result.stopped) return kInterrupted;
  if (!result.new_ids.empty() || unconfirmed_alarms(found) > 0) return kFound;
  // One mistake in a spec suffices, regardless of how many plans avoided it.
  if (std::any_of(result.unjudged.begin(), result.unjudged.end(),
                  [](const campaign::Unjudged& u) { return u.spec_error; }))
    return kUsage;
  std::vector<PlanCounts> targets;
  for (const auto& t : result.targets)
    targets.push_back({.judged = t.pass + t.fail,
                       .harness_errors = t.harness_errors,
                       .inconclusive = t.inconclusive});
  return exit_code_of(rank_targets(targets));
}

// Limits, seed and allocator.
Result<engine::CampaignRequest> request_of(const po::variables_map& flags) {
  engine::CampaignRequest request;
  RZ_TRY_ASSIGN(const auto time, duration_flag(flags, "time"));
  RZ_TRY_ASSIGN(const auto plans, limit_flag(flags, "plans"));
  RZ_TRY_ASSIGN(const auto findings, limit_flag(flags, "findings"));
  request.plans_per_target = plans;
  request.findings = findings;
  if (time)
    request.time = *time;
  else if (plans == 0)
    request.time = std::chrono::seconds(60);
  RZ_TRY_ASSIGN(const auto allocator, allocator_flag(flags));
  request.allocator = allocator;
  request.seed = flags.count("seed") != 0 ? flags["seed"].as<Count>().value
                                          : std::random_device{}() & 0x7fffffffu;
  return request;
}

// The command with all given flags, and with the seed that was drawn if none was given.
std::string run_as_typed(const po::variables_map& flags, std::uint64_t seed) {
  std::string out = "redzone run";
  if (flags.count("target") != 0)
    for (const auto& name : flags["target"].as<std::vector<std::string>>())
      out += " " + shell_quoted(name);
  if (const std::string given = given_flags(flags, "target"); !given.empty()) out += " " + given;
  if (flags.count("seed") == 0) out += fmt::format(" --seed {}", seed);
  return out;
}

// Lists the oracles that judged nothing only if the catalog is not the full one.
report::Scope scope_of(const oracles::Catalog& catalog, bool at_once,
                       const campaign::CampaignResult& result) {
  report::Scope scope;
  for (const auto& u : result.unjudged)
    scope.unjudged.push_back({u.target, u.outcome, u.reason, u.plans, u.spec_error});
  const auto judged = catalog.all();
  for (const auto* oracle : judged) scope.judged.emplace_back(oracle->name());
  const oracles::Catalog complete;
  for (const auto* oracle : complete.all())
    if (catalog.find(oracle->name()) == nullptr) scope.not_judged.emplace_back(oracle->name());
  if (at_once) scope.why_not_judged = "calls of a Python target on the CPU compute at once";
  for (const auto& t : result.targets)
    if (t.reference.calls > 0) scope.compared.push_back({t.target, t.reference, t.not_compared});
  for (const auto& t : result.targets)
    scope.targets.push_back({t.target, t.reference, t.outputs, t.not_judged, t.out_of_reach,
                             t.between_canaries, t.refused_calls, t.why_refused, t.own_memory,
                             t.warnings, t.hung_calls});
  scope.slow_functions = result.slow_functions;
  return scope;
}

Result<int> Run::run(const po::variables_map& flags, Results& out) {
  watch_interrupts();
  RZ_TRY_ASSIGN(auto wanted, engine_options(flags, engine::Workload::campaign));
  RZ_TRY_ASSIGN(const auto launch, launch_flag(flags));
  if (launch) wanted.screen.relaxed = *launch;
  RZ_TRY_ASSIGN(auto request, request_of(flags));
  request.command = run_as_typed(flags, request.seed);
  const SanitizerTool tool = wanted.sanitizer;
  RZ_TRY_ASSIGN(auto opened, engine::Engine::open(wanted));
  engine::Engine& engine = *opened;
  RZ_TRY_ASSIGN(const auto quarantined, forbidden(flags));
  engine::SelectionOptions asked = selection_options(flags);
  asked.tool = tool;
  RZ_TRY_ASSIGN(const auto selection, engine::select(engine.site(), asked, quarantined));
  for (const auto& [target, why] : selection.skipped)
    print_note(fmt::format("not applicable: {}: {}", target, why));
  if (selection.targets.empty()) return kNotJudged;
  const bool at_once = std::any_of(selection.targets.begin(), selection.targets.end(),
                                   [](const TargetEntry* entry) { return entry->immediate; });
  if (at_once)
    print_note(
        "not applicable: launch modes, schedules, streams, graphs: a Python target computes at "
        "once "
        "on the CPU, so its calls run in their order");
  request.targets = selection.targets;

  const auto proof = engine.prove(request.allocator);
  if (interrupted()) return kInterrupted;
  if (!proof) return tl::unexpected(proof.error());
  RZ_TRY_ASSIGN(auto store, open_store(flags, store::OpenMode::read_write_create));
  ProgressPrinter printer;
  RZ_TRY_ASSIGN(const auto ran,
                engine::run_campaign(
                    engine, store, request,
                    {.progress = [&](const campaign::Progress& p) { printer(p); },
                     .found = [&](const Finding& f, double seconds) { printer.found(f, seconds); },
                     .merged = [&](auto id, auto other) { printer.merged(id, other); },
                     .fuzzed =
                         [&] {
                           printer.end();
                           if (const std::string why = engine.not_compiled_ahead(); !why.empty())
                             log::warn("{}", why);
                         }}));
  const report::SelfProof shown{proof->caught, proof->took};
  const std::string db = db_for_commands(flags);
  const oracles::Catalog& catalog = engine.site().catalog_for(selection.targets);
  const report::Scope scope = scope_of(catalog, at_once, ran.result);
  out.print(json_wanted(flags) ? report::campaign_json(ran.record, ran.found, shown, db, scope)
                               : report::campaign_text(ran.record, ran.found, shown, db, scope));
  return exit_code_of_run(ran.result, ran.found);
}

}  // namespace

std::unique_ptr<Command> make_run() {
  return std::make_unique<Run>();
}

}  // namespace redzone::cli
