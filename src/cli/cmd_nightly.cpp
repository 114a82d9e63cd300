// `redzone nightly`: what an unattended job runs.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "cli/commands.h"
#include "cli/engine_flags.h"
#include "cli/fuzzing.h"
#include "cli/interrupt.h"
#include "cli/night_report.h"
#include "cli/night_tables.h"
#include "cli/nightly.h"
#include "cli/output.h"
#include "cli/selection_flags.h"
#include "core/terminal.h"
#include "core/utc.h"
#include "report/night_formats.h"
#include "store/file_lock.h"

namespace redzone::cli {
namespace {

class NightlyCommand final : public Command {
 public:
  std::string_view name() const override { return "nightly"; }
  std::string_view synopsis() const override { return "redzone nightly [TARGET...] [options]"; }
  std::string_view summary() const override {
    return "replay what is known, fuzz for the rest of the time, report what is new";
  }
  void declare(po::options_description& flags,
               po::positional_options_description& words) const override {
    add_selection_flags(flags, words);
    flags.add_options()(
        "time", po::value<std::string>(),
        "how long in all, 30 % of it at most for replays (default: 1h, unless --plans is given)")(
        "plans", po::value<Count>(), "how many plans to fuzz each target with at most")(
        "seed", po::value<Count>(),
        "of the night; the same for all shards of one (default: drawn from the time)")(
        "corpus", po::value<std::string>(), "folder of plan files that are replayed, too")(
        "report", po::value<std::string>(),
        "folder for the report in all formats; made when it is not there")(
        "shard", po::value<std::string>()->default_value("1/1"),
        "I/N: this runner's share of the work of N")(
        "commit", po::value<std::string>()->default_value(""), "what is tested, for the report");
    add_device_flag(flags);
    add_db_flag(flags);
    add_plugin_flag(flags);
    add_package_flag(flags);
    add_worker_flags(flags);
    add_compile_flag(flags);
    add_json_flag(flags);
  }
  Result<int> run(const po::variables_map& flags) override;
};

std::string typed(const po::variables_map& flags) {
  std::string out = "redzone nightly";
  if (flags.count("target") != 0)
    for (const auto& name : flags["target"].as<std::vector<std::string>>())
      out += " " + shell_quoted(name);
  if (const std::string given = given_flags(flags, "target"); !given.empty()) out += " " + given;
  return out;
}

Result<NightlyOptions> nightly_options(const po::variables_map& flags) {
  NightlyOptions options;
  auto shard = campaign::Shard::parse(flags["shard"].as<std::string>());
  if (!shard) return usage_error("--shard: " + shard.error().message);
  options.shard = *shard;
  auto time = duration_flag(flags, "time");
  if (!time) return tl::unexpected(time.error());
  auto plans = plans_flag(flags);
  if (!plans) return tl::unexpected(plans.error());
  options.plans = *plans;
  if (*time)
    options.time = **time;
  else if (options.plans == 0)
    options.time = std::chrono::hours(1);
  if (flags.count("seed") != 0) options.seed = flags["seed"].as<Count>().value;
  if (flags.count("corpus") != 0) {
    auto corpus = read_corpus(flags["corpus"].as<std::string>());
    if (!corpus) return tl::unexpected(corpus.error());
    options.corpus = std::move(*corpus);
  }
  options.commit = flags["commit"].as<std::string>();
  options.command = typed(flags);
  return options;
}

// Found out before the night rather than after it.
Result<void> make_folder(const po::variables_map& flags) {
  if (flags.count("report") == 0) return {};
  const std::filesystem::path folder = flags["report"].as<std::string>();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return usage_error(fmt::format("--report: {}: {}", folder.string(), error.message()));
  // What permissions, a full disk and the like say of it shows when a file is made.
  const auto probe = folder / fmt::format(".redzone-{}", ::getpid());
  const bool made = static_cast<bool>(std::ofstream(probe) << "x" << std::flush);
  const bool removed = std::filesystem::remove(probe, error);
  if (!made || !removed)
    return usage_error(fmt::format("--report: {}: no file can be made in it", folder.string()));
  return {};
}

// What the night comes to, which is said before anything else can go wrong. The store's error that
// ended it is the night's problem: what was stored before is in the report all the same.
Result<report::Night> describe(store::Store& store, std::int64_t campaign, std::string_view db,
                               const Registry& registry, const std::optional<Error>& broken) {
  auto night = describe_night(store, campaign, {.db = db, .registry = &registry, .running = true});
  if (!night) return night;
  if (auto added = add_bisections(*night, store, registry); !added)
    return tl::unexpected(added.error());
  if (broken) night->problem = broken->message;
  return night;
}

Result<int> NightlyCommand::run(const po::variables_map& flags) {
  watch_interrupts();
  auto options = nightly_options(flags);
  if (!options) return tl::unexpected(options.error());
  auto wanted = engine_options(flags, engine::Workload::campaign);
  if (!wanted) return tl::unexpected(wanted.error());
  auto opened = engine::Engine::open(*wanted);
  if (!opened) return tl::unexpected(opened.error());
  engine::Engine& session = **opened;
  if (auto selected = engine::select(session.site(), selection_options(flags), {}); !selected)
    return tl::unexpected(selected.error());  // before there is a store
  if (auto made = make_folder(flags); !made) return tl::unexpected(made.error());
  const std::string db = flags["db"].as<std::string>();
  auto store = open_store(flags, store::OpenMode::read_write_create);
  if (!store) return tl::unexpected(store.error());
  const auto lock = store::FileLock::take(db, "another job");
  if (!lock) return tl::unexpected(lock.error());
  const auto quarantined = store->quarantined();
  if (!quarantined) return tl::unexpected(quarantined.error());
  const auto selection = engine::select(session.site(), selection_options(flags), *quarantined);
  if (!selection) return tl::unexpected(selection.error());

  Nightly nightly(session, *store, *selection, *options);
  std::optional<Error> ended;
  if (auto r = nightly.run(); !r) ended = r.error();
  if (ended && nightly.campaign() == 0) return tl::unexpected(*ended);
  auto night = describe(*store, nightly.campaign(), db_for_commands(flags),
                        session.site().registry(), ended);
  if (!night) return tl::unexpected(ended.value_or(night.error()));
  const bool broken = std::any_of(options->corpus.begin(), options->corpus.end(),
                                  [](const auto& plan) { return !plan.problem.empty(); });
  const bool unsound = ended && ended->kind == ErrorKind::unsound;
  night->exit_code = interrupted() ? static_cast<int>(kInterrupted)
                     : unsound     ? static_cast<int>(kUnsound)
                                   : night_exit_code(*night, broken);
  if (night->exit_code != kInterrupted) {
    night->ended = night->parts.back().ended = utc_now();
    night->trend.back().exit_code = night->parts.back().exit_code = night->exit_code;
  }
  print_result(json_wanted(flags) ? report::night_json(*night) : report::night_text(*night));
  Result<void> kept;
  if (flags.count("report") != 0) kept = write_night(*night, flags["report"].as<std::string>());
  // Last: a night that is cut off before goes on, and writes its report again.
  if (kept && !ended && night->exit_code != kInterrupted) kept = nightly.close(night->exit_code);
  if (kept) return night->exit_code;
  if (night->exit_code != kFound) return tl::unexpected(kept.error());
  print_note(fmt::format("nightly: {}", kept.error().message));
  return night->exit_code;
}

}  // namespace

std::unique_ptr<Command> make_nightly() {
  return std::make_unique<NightlyCommand>();
}

}  // namespace redzone::cli
