#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <chrono>
#include <filesystem>
#include <limits>
#include <optional>
#include <utility>

#include "campaign/shard.h"
#include "cli/engine_flags.h"
#include "cli/fleet_actions.h"
#include "cli/night_flags.h"
#include "core/build_environment.h"
#include "core/read_file.h"
#include "core/terminal.h"
#include "core/uid.h"
#include "core/utc.h"
#include "engine/selection.h"
#include "fleet/record_file.h"
#include "fleet/shared_folder.h"
#include "fleet/slurm.h"
#include "store/publish.h"

namespace redzone::cli {
namespace {

// Those of `flags` that `these` declares.
po::variables_map given_of(const po::variables_map& flags, const po::options_description& these) {
  po::variables_map given;
  for (const auto& option : these.options())
    if (const auto it = flags.find(option->long_name()); it != flags.end()) given.insert(*it);
  return given;
}

// The arguments of `redzone bisect` and `redzone reduce` for every finding.
std::vector<std::string> rerun_words(const po::variables_map& flags) {
  po::options_description these;
  add_device_flag(these);
  add_target_flags(these);
  add_worker_flags(these);
  return given_words(given_of(flags, these));
}

// The arguments of `redzone nightly` for every shard, without the seed, which belongs to the fleet.
std::vector<std::string> night_words(const po::variables_map& flags) {
  po::options_description night;
  po::positional_options_description positional;
  add_night_flags(night, positional);
  po::variables_map given = given_of(flags, night);
  given.erase("seed");
  std::vector<std::string> words;
  if (flags.count("target") != 0) words = flags["target"].as<std::vector<std::string>>();
  given.erase("target");
  for (auto& word : given_words(given)) words.push_back(std::move(word));
  return words;
}

// A number below 2^48, which every JSON reader represents exactly.
std::uint64_t seed_of(const std::string& uid) {
  std::uint64_t seed = 0;
  constexpr int kDigits = 12, kHexadecimal = 16;
  std::from_chars(uid.data(), uid.data() + kDigits, seed, kHexadecimal);
  return seed;
}

Result<fleet::Fleet> fleet_of(const po::variables_map& flags, const fleet::Site& site) {
  RZ_TRY_ASSIGN(const auto night, night_options(flags));
  static_assert(fleet::kMostShards == campaign::Shard::kMost);
  if (flags.count("shards") == 0)
    return usage_error("fleet submit: --shards is missing; see 'redzone fleet --help'");
  const std::uint64_t shards = flags["shards"].as<Count>().value;
  if (shards < 1 || shards > static_cast<std::uint64_t>(fleet::kMostShards))
    return usage_error(
        fmt::format("fleet submit: --shards: 1..{} is expected", fleet::kMostShards));
  constexpr auto kMostSeed = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (night.seed && *night.seed > kMostSeed)
    return usage_error(fmt::format("fleet submit: --seed: at most {} is expected", kMostSeed));
  fleet::Fleet fleet;
  fleet.uid = new_uid();
  fleet.created = utc_now_us();
  fleet.version = redzone_version();
  fleet.shards = static_cast<int>(shards);
  fleet.seed = night.seed.value_or(seed_of(fleet.uid));
  fleet.nightly = night_words(flags);
  fleet.reruns = rerun_words(flags);
  RZ_TRY_ASSIGN(fleet.models, fleet::models_of(site, fleet.shards));
  fleet.seconds = std::chrono::duration<double>(night.time).count();
  fleet.shards_reduce = site.shards_reduce;
  fleet.snapshot_seconds = site.snapshot_seconds;
  fleet.lease_seconds = site.lease_seconds;
  fleet.answer_seconds = site.answer_seconds;
  return fleet;
}

// Finds errors that would make every shard fail. Python files are checked only by the shards,
// because the submitting machine need not have their modules.
Result<void> check_night(const po::variables_map& flags) {
  engine::EngineOptions options;
  options.plugins = plugin_paths(flags);
  options.packages = package_paths(flags);
  RZ_TRY_ASSIGN(const auto registry, engine::load_targets(options));
  if (flags.count("target") == 0 || !python_paths(flags).empty()) return {};
  return engine::check_names(registry, flags["target"].as<std::vector<std::string>>());
}

std::string printed(const fleet::Commands& commands, const std::string& script) {
  std::string out;
  const auto add = [&out](const fleet::Command& command, const std::vector<std::string>& after) {
    out += shell_quoted(command.words(after)) + "\n";
  };
  for (const auto& shards : commands.shards) add(shards, {});
  add(commands.hub, {});
  for (const auto& examination : commands.examinations) add(examination, {"SHARDS"});
  add(commands.report, {"SHARDS", "EXAMINATIONS"});
  return out + "\n" + script;
}

}  // namespace

fleet::Layout fleet_layout(const po::variables_map& flags) {
  std::error_code error;
  const std::filesystem::path given = flags["dir"].as<std::string>();
  const auto absolute = std::filesystem::absolute(given, error).lexically_normal();
  return {error ? given : absolute};
}

Result<std::string> own_program() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return harness_error("/proc/self/exe: " + error.message());
  return self.string();
}

Result<int> fleet_submit(const po::variables_map& flags, Results& out) {
  RZ_TRY_ASSIGN(
      const auto site,
      fleet::read_site(flags.count("site") != 0 ? flags["site"].as<std::string>() : std::string()));
  RZ_TRY_ASSIGN(const auto fleet, fleet_of(flags, site));
  RZ_TRY(check_night(flags));
  std::optional<store::Store> known;
  if (flags.count("known") != 0) {
    RZ_TRY_ASSIGN(auto opened,
                  store::Store::open(flags["known"].as<std::string>(), store::OpenMode::read_only));
    known.emplace(std::move(opened));
  }
  RZ_TRY_ASSIGN(const std::string self, own_program());
  const auto layout = fleet_layout(flags);
  const auto commands = fleet::commands_of(fleet, layout, site, self);
  if (flags["dry-run"].as<bool>()) {
    RZ_TRY(fleet::check_folder(layout));
    RZ_TRY_ASSIGN(const std::string script, read_file(site.script));
    out.print(printed(commands, script));
    return kOk;
  }
  RZ_TRY(fleet::create_folder(layout, fleet));
  const auto jobs = [&]() -> Result<fleet::Jobs> {
    if (known) RZ_TRY(store::publish(*known, layout.known()));
    RZ_TRY_ASSIGN(auto submitted, fleet::submit(commands, &fleet::run_program));
    if (const auto written = fleet::write_record(layout.jobs(), submitted); !written) {
      fleet::cancel_all(submitted, &fleet::run_program);  // without the record, no command could
                                                          // stop the jobs
      return tl::unexpected(written.error());
    }
    return submitted;
  }();
  if (!jobs) {
    fleet::abandon_folder(layout);
    return tl::unexpected(jobs.error());
  }
  out.print(fmt::format(
      "submitted {} shards as job {}, the hub as {}, the examination as {}, the report as {}\n",
      fleet.shards, fmt::join(jobs->shards, ", "), jobs->hub, fmt::join(jobs->examinations, ", "),
      jobs->report));
  return kOk;
}

}  // namespace redzone::cli
