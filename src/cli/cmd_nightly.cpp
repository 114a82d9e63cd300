// `redzone nightly`: the run of an unattended job.
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/engine_flags.h"
#include "cli/fuzzing.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/selection_flags.h"
#include "core/log.h"
#include "core/terminal.h"
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
    add_selection_flags(flags, words);
    flags.add_options()(
        "time", po::value<std::string>(),
        "total time limit, at most 30 % of it for replays (default: 1h, unless --plans is given)")(
        "plans", po::value<Count>(), "plan limit for each target")(
        "seed", po::value<Count>(),
        "seed of the night; the same for all of its shards (default: drawn from the time)")(
        "corpus", po::value<std::string>(), "folder of plan files to replay as well")(
        "report", po::value<std::string>(),
        "folder for the report in all formats; created if missing")(
        "shard", po::value<std::string>()->default_value("1/1"),
        "I/N: run part I of N of the work")("commit", po::value<std::string>()->default_value(""),
                                            "commit under test, for the report");
    add_device_flag(flags);
    add_db_flag(flags);
    add_target_flags(flags);
    add_worker_flags(flags);
    add_compile_flag(flags);
    add_json_flag(flags);
  }
  Result<int> run(const po::variables_map& flags, Results& out) override;
};

std::string nightly_as_typed(const po::variables_map& flags) {
  std::string out = "redzone nightly";
  if (flags.count("target") != 0)
    for (const auto& name : flags["target"].as<std::vector<std::string>>())
      out += " " + shell_quoted(name);
  if (const std::string given = given_flags(flags, "target"); !given.empty()) out += " " + given;
  return out;
}

Result<nightly::NightlyOptions> nightly_options(const po::variables_map& flags) {
  nightly::NightlyOptions options;
  auto shard = campaign::Shard::parse(flags["shard"].as<std::string>());
  if (!shard) return usage_error("--shard: " + shard.error().message);
  options.shard = *shard;
  RZ_TRY_ASSIGN(auto time, duration_flag(flags, "time"));
  RZ_TRY_ASSIGN(auto plans, plans_flag(flags));
  options.plans = plans;
  if (time)
    options.time = *time;
  else if (options.plans == 0)
    options.time = std::chrono::hours(1);
  if (flags.count("seed") != 0) options.seed = flags["seed"].as<Count>().value;
  if (flags.count("corpus") != 0) {
    RZ_TRY_ASSIGN(auto corpus, nightly::read_corpus(flags["corpus"].as<std::string>()));
    options.corpus = std::move(corpus);
  }
  options.commit = flags["commit"].as<std::string>();
  options.command = nightly_as_typed(flags);
  return options;
}

Result<int> NightlyCommand::run(const po::variables_map& flags, Results& out) {
  watch_interrupts();
  RZ_TRY_ASSIGN(auto options, nightly_options(flags));
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
    RZ_TRY(nightly::prepare_folder(*job.report));
  }
  RZ_TRY_ASSIGN(auto store, open_store(flags, store::OpenMode::read_write_create));
  RZ_TRY_ASSIGN([[maybe_unused]] const auto lock,
                store::FileLock::take(flags["db"].as<std::string>(), "another job"));
  RZ_TRY_ASSIGN(const auto quarantined, store.quarantined());
  RZ_TRY_ASSIGN(const auto selection, engine::select(engine.site(), targets, quarantined));

  auto means = nightly::means_over(engine);
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
