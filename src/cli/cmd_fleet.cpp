// `redzone fleet`: one campaign over many GPUs, on Slurm.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <utility>

#include "cli/commands.h"
#include "cli/fleet_actions.h"
#include "cli/interrupt.h"
#include "cli/night_flags.h"
#include "core/names.h"
#include "fleet/examine_job.h"
#include "fleet/hub_job.h"
#include "fleet/shard_job.h"
#include "fleet/slurm.h"

namespace redzone::cli {
namespace {

class FleetCommand final : public Command {
 public:
  std::string_view name() const override { return "fleet"; }
  std::string_view synopsis() const override {
    return "redzone fleet submit --dir DIR --shards N [TARGET...] [options]\n"
           "redzone fleet status|stop|report --dir DIR [options]\n"
           "redzone fleet shard|hub|examine --dir DIR --local DIR [options]";
  }
  std::string_view summary() const override {
    return "run one campaign on many GPUs through Slurm, with one set of findings";
  }
  void declare(po::options_description& flags,
               po::positional_options_description& words) const override {
    flags.add_options()(
        "do", po::value<std::string>()->required(),
        "submit, status, stop or report; shard, hub and examine are what its jobs run")(
        "dir", po::value<std::string>()->required(), "folder that all nodes share")(
        "shards", po::value<Count>(), "submit: number of jobs, each with a GPU")(
        "site", po::value<std::string>(), "submit: the site's fleet.toml, with options for sbatch")(
        "known", po::value<std::string>(),
        "submit: store of an earlier fleet or night, whose findings the shards replay")(
        "dry-run", po::bool_switch(), "submit: print what would be submitted")(
        "out", po::value<std::string>(), "report: folder for the page and all formats")(
        "index", po::value<Count>(), "shard, examine: its number, or the model's")(
        "local", po::value<std::string>(), "shard, hub, examine: folder on the local disk")(
        "uid", po::value<std::string>()->default_value(""),
        "shard, hub, examine: the fleet that the job belongs to; another one in the folder is an "
        "error")("finish", po::bool_switch(), "hub: merge what there is, and end");
    words.add("do", 1);
    add_night_flags(flags, words);
    add_json_flag(flags);
  }
  Result<int> run(const po::variables_map& flags, Results& out) override;
};

std::string this_host() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (const char* node = std::getenv("SLURMD_NODENAME")) return node;
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

Result<std::string> required(const po::variables_map& flags, const char* flag) {
  if (flags.count(flag) != 0) return flags[flag].as<std::string>();
  return usage_error(fmt::format("fleet {}: --{} is missing; see 'redzone fleet --help'",
                                 flags["do"].as<std::string>(), flag));
}

// --index, clamped to kMostShards + 1, which is out of every range and fits an int.
Result<int> index_of(const po::variables_map& flags) {
  if (flags.count("index") == 0)
    return usage_error(fmt::format("fleet {}: --index is missing; see 'redzone fleet --help'",
                                   flags["do"].as<std::string>()));
  return static_cast<int>(
      std::min<std::uint64_t>(flags["index"].as<Count>().value, fleet::kMostShards + 1));
}

std::string this_job() {
  const char* job = std::getenv("SLURM_JOB_ID");
  return job == nullptr ? "" : job;
}

Result<int> examine(const po::variables_map& flags, Results&) {
  watch_interrupts();
  RZ_TRY_ASSIGN(const int model, index_of(flags));
  RZ_TRY_ASSIGN(const std::string local, required(flags, "local"));
  RZ_TRY_ASSIGN(const std::string self, own_program());
  return fleet::run_examination({.layout = fleet_layout(flags),
                                 .uid = flags["uid"].as<std::string>(),
                                 .model = model,
                                 .local = local,
                                 .redzone = self,
                                 .host = this_host(),
                                 .job = this_job(),
                                 .interrupted = &interrupted});
}

Result<int> shard(const po::variables_map& flags, Results&) {
  watch_interrupts();
  RZ_TRY_ASSIGN(const int index, index_of(flags));
  RZ_TRY_ASSIGN(const std::string local, required(flags, "local"));
  RZ_TRY_ASSIGN(const std::string self, own_program());
  return fleet::run_shard({.layout = fleet_layout(flags),
                           .uid = flags["uid"].as<std::string>(),
                           .shard = index,
                           .local = local,
                           .redzone = self,
                           .host = this_host(),
                           .job = this_job(),
                           .interrupted = &interrupted});
}

Result<int> hub(const po::variables_map& flags, Results&) {
  watch_interrupts();
  RZ_TRY_ASSIGN(const std::string local, required(flags, "local"));
  RZ_TRY(fleet::run_hub({.layout = fleet_layout(flags),
                         .uid = flags["uid"].as<std::string>(),
                         .local = local,
                         .host = this_host(),
                         .interrupted = &interrupted,
                         .finish = flags["finish"].as<bool>()}));
  return interrupted() ? kInterrupted : kOk;
}

Result<int> FleetCommand::run(const po::variables_map& flags, Results& out) {
  using Action = Result<int> (*)(const po::variables_map&, Results&);
  static constexpr std::array<std::pair<Action, const char*>, 7> kActions{
      std::pair{&fleet_submit, "submit"}, std::pair{&fleet_status, "status"},
      std::pair{&fleet_stop, "stop"},     std::pair{&fleet_report, "report"},
      std::pair{&shard, "shard"},         std::pair{&hub, "hub"},
      std::pair{&examine, "examine"}};
  const std::string& name = flags["do"].as<std::string>();
  RZ_TRY_ASSIGN(const auto action, value_in(kActions, name, "action"));
  if (flags["dir"].as<std::string>().empty())
    return usage_error("--dir: the name of a folder is expected");
  const std::array<FlagOfActions, 13> of_actions{{{"shards", {"submit"}},
                                                  {"site", {"submit"}},
                                                  {"known", {"submit"}},
                                                  {"dry-run", {"submit"}},
                                                  {"target", {"submit"}},
                                                  {"time", {"submit"}},
                                                  {"plans", {"submit"}},
                                                  {"seed", {"submit"}},
                                                  {"out", {"report"}},
                                                  {"json", {"status", "report"}},
                                                  {"index", {"shard", "examine"}},
                                                  {"local", {"shard", "hub", "examine"}},
                                                  {"finish", {"hub"}}}};
  RZ_TRY(check_flags_of("fleet", name, flags, of_actions));
  return action(flags, out);
}

}  // namespace

std::unique_ptr<Command> make_fleet() {
  return std::make_unique<FleetCommand>();
}

}  // namespace redzone::cli
