// `redzone nightly`: an unattended nightly run.
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/engine_flags.h"
#include "cli/fleet_leases.h"
#include "cli/fuzzing.h"
#include "cli/interrupt.h"
#include "cli/night_flags.h"
#include "cli/output.h"
#include "cli/selection_flags.h"
#include "core/log.h"
#include "nightly/job.h"
#include "nightly/over_engine.h"
#include "nightly/write.h"
#include "report/night_formats.h"
#include "store/file_lock.h"

namespace redzone::cli {
namespace {

class NightlyCommand final : public Command {
 public:
  std::string_view name() const override { return "nightly"; }
  std::string_view synopsis() const override { return "redzone nightly [TARGET...] [options]"; }
  std::string_view summary() const override {
    return "replay known findings, fuzz for the rest of the time, report new findings";
  }
  void declare(po::options_description& flags,
               po::positional_options_description& words) const override {
    add_night_flags(flags, words);
    flags.add_options()("report", po::value<std::string>(),
                        "folder for the report in all formats; created if missing")(
        "shard", po::value<std::string>()->default_value("1/1"),
        "I/N: run part I of N of the work")(
        "fleet", po::value<std::string>(),
        "shared folder of the fleet that this shard belongs to: its hub decides which shard "
        "reduces a finding ('redzone fleet' gives it)");
    add_db_flag(flags);
    add_json_flag(flags);
  }
  Result<int> run(const po::variables_map& flags, Results& out) override;
};

Result<int> NightlyCommand::run(const po::variables_map& flags, Results& out) {
  watch_interrupts();
  RZ_TRY_ASSIGN(auto options, night_options(flags));
  auto shard = campaign::Shard::parse(flags["shard"].as<std::string>());
  if (!shard) return usage_error("--shard: " + shard.error().message);
  options.shard = *shard;
  RZ_TRY_ASSIGN(const auto leases, fleet_leases(flags, options.shard));
  if (leases) options.fleet = leases->fleet.uid;
  RZ_TRY_ASSIGN(auto wanted, engine_options(flags, engine::Workload::campaign));
  RZ_TRY_ASSIGN(auto opened, engine::Engine::open(wanted));
  engine::Engine& engine = *opened;
  RZ_TRY(nightly::check_targets(options.corpus, engine.site().registry()));
  const auto targets = selection_options(flags);
  RZ_TRY(engine::select(engine.site(), targets, {}));  // before a store is created
  nightly::JobOptions job;
  job.db = db_for_commands(flags);
  if (flags.count("report") != 0) {
    job.report = flags["report"].as<std::string>();
    if (job.report->empty()) return usage_error("--report is empty: name a folder");
    RZ_TRY(nightly::prepare_folder(*job.report));
  }
  RZ_TRY_ASSIGN(auto store, open_store(flags, store::OpenMode::read_write_create));
  RZ_TRY_ASSIGN([[maybe_unused]] const auto lock,
                store::FileLock::take(flags["db"].as<std::string>(), "another job"));
  RZ_TRY_ASSIGN(const auto quarantined, store.quarantined());
  RZ_TRY_ASSIGN(const auto selection, engine::select(engine.site(), targets, quarantined));

  auto means = nightly::means_over(engine);
  if (leases) divide_reductions(means, *leases);
  ProgressPrinter printer;
  means.note = [](const std::string& line) { log::warn("{}", line); };
  means.progress = [&](const campaign::Progress& p) { printer(p); };
  means.fuzzed = [&] {
    printer.end();
    if (const std::string why = engine.not_compiled_ahead(); !why.empty()) log::warn("{}", why);
  };
  const bool json = json_wanted(flags);
  job.print = [json, &out](const report::Night& night) {
    out.print(json ? report::night_json(night) : report::night_text(night));
  };
  return nightly::run_job(means, store, selection, options, job);
}

}  // namespace

std::unique_ptr<Command> make_nightly() {
  return std::make_unique<NightlyCommand>();
}

}  // namespace redzone::cli
