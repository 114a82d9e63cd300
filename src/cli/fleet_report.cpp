#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/engine_flags.h"
#include "cli/fleet_actions.h"
#include "core/write_file.h"
#include "fleet/describe.h"
#include "fleet/record_file.h"
#include "fleet/shared_folder.h"
#include "fleet/slurm.h"
#include "nightly/describe.h"
#include "nightly/tables.h"
#include "nightly/write.h"

namespace redzone::cli {
namespace {

// The store that the hub has published; empty if the hub has not published yet.
Result<std::optional<store::Store>> open_hub(const fleet::Layout& layout) {
  std::error_code ignored;
  if (!std::filesystem::exists(layout.hub_store(), ignored)) return std::optional<store::Store>();
  RZ_TRY_ASSIGN(auto store, store::Store::open(layout.hub_store(), store::OpenMode::read_only));
  return std::optional<store::Store>(std::move(store));
}

// Empty if the fleet's jobs have not been submitted yet.
Result<std::optional<fleet::Jobs>> submitted_jobs(const fleet::Layout& layout) {
  std::error_code ignored;
  if (!std::filesystem::exists(std::filesystem::symlink_status(layout.jobs(), ignored)))
    return std::optional<fleet::Jobs>();
  RZ_TRY_ASSIGN(auto jobs, fleet::read_record<fleet::Jobs>(layout.jobs()));
  return std::optional<fleet::Jobs>(std::move(jobs));
}

// The targets that the fleet was submitted with, unless the command names others. If they cannot be
// loaded here, the error is added to `problems` and the report continues without them.
Result<Registry> registry_of(const po::variables_map& flags, const fleet::Fleet& fleet,
                             std::vector<std::string>& problems) {
  for (const char* flag : {"plugin", "package", "python-file", "python"})
    if (flags.count(flag) != 0) return load_registry(flags);
  po::options_description these;
  add_device_flag(these);
  add_target_flags(these);
  add_worker_flags(these);
  auto loaded = [&]() -> Result<Registry> {
    po::variables_map submitted;
    try {
      po::store(po::command_line_parser(fleet.reruns).options(these).run(), submitted);
    } catch (const po::error& error) {
      return usage_error(fmt::format("fleet.json: reruns: {}", error.what()));
    }
    return load_registry(submitted);
  }();
  if (loaded) return loaded;
  problems.push_back("the fleet's own targets are not loaded: " + loaded.error().message);
  return load_registry(flags);
}

// Empty if no shard has published a night yet.
Result<std::optional<report::Night>> described_night(const po::variables_map& flags,
                                                     const fleet::Layout& layout,
                                                     const fleet::Fleet& fleet, store::Store& hub,
                                                     std::vector<std::string>& problems) {
  RZ_TRY_ASSIGN(const auto campaign, fleet::night_of(fleet, hub));
  if (!campaign) return std::optional<report::Night>();
  RZ_TRY_ASSIGN(const auto registry, registry_of(flags, fleet, problems));
  const std::string db = layout.hub_store().string();
  RZ_TRY_ASSIGN(auto night,
                nightly::describe_night(hub, *campaign, {.db = db, .registry = &registry}));
  RZ_TRY_ASSIGN(const auto unknown, nightly::add_bisections(night, hub, registry));
  for (const auto& target : unknown)
    problems.push_back(fmt::format("{}: no bisection is shown: the target is not loaded", target));
  return std::optional(std::move(night));
}

Result<void> write_pages(const std::filesystem::path& folder,
                         const std::optional<report::Night>& night, const report::Fleet& fleet) {
  RZ_TRY(nightly::prepare_folder(folder));
  if (night) RZ_TRY(nightly::write_night(*night, folder));
  using Page = std::pair<const char*, std::string (*)(const report::Fleet&)>;
  constexpr std::array<Page, 3> kPages{Page{"fleet.html", &report::fleet_html},
                                       Page{"fleet.json", &report::fleet_json},
                                       Page{"fleet.txt", &report::fleet_text}};
  for (const auto& [name, page] : kPages) RZ_TRY(write_file(folder / name, page(fleet)));
  return {};
}

void print_fleet(const po::variables_map& flags, const report::Fleet& fleet, Results& out) {
  out.print(json_wanted(flags) ? report::fleet_json(fleet) : report::fleet_text(fleet));
}

}  // namespace

Result<int> fleet_status(const po::variables_map& flags, Results& out) {
  const auto layout = fleet_layout(flags);
  RZ_TRY_ASSIGN(const auto fleet, fleet::read_fleet(layout));
  RZ_TRY_ASSIGN(const auto jobs, submitted_jobs(layout));
  RZ_TRY_ASSIGN(auto hub, open_hub(layout));
  RZ_TRY_ASSIGN(const auto described, fleet::describe_fleet(layout, fleet, hub ? &*hub : nullptr));
  print_fleet(flags, described, out);
  if (json_wanted(flags)) return kOk;
  if (jobs)
    if (const auto queue = fleet::queue_of(*jobs, &fleet::run_program); !queue.empty())
      out.print("\nSlurm\n" + queue);
  return kOk;
}

Result<int> fleet_stop(const po::variables_map& flags, Results& out) {
  const auto layout = fleet_layout(flags);
  RZ_TRY(fleet::read_fleet(layout));
  RZ_TRY_ASSIGN(const auto jobs, fleet::read_record<fleet::Jobs>(layout.jobs()));
  RZ_TRY(write_file(layout.stop(), ""));
  RZ_TRY_ASSIGN(const int told, fleet::cancel(jobs, &fleet::run_program));
  out.print(told > 0 ? "the shards publish what they have and end; then the report is written\n"
                     : "no shard and no examination is in Slurm's queue: nobody was signalled\n");
  return kOk;
}

Result<int> fleet_report(const po::variables_map& flags, Results& out) {
  const auto layout = fleet_layout(flags);
  RZ_TRY_ASSIGN(const auto fleet, fleet::read_fleet(layout));
  RZ_TRY_ASSIGN(auto hub, open_hub(layout));
  std::vector<std::string> problems;
  std::optional<report::Night> night;
  if (hub) {
    RZ_TRY_ASSIGN(night, described_night(flags, layout, fleet, *hub, problems));
  }
  if (!night) problems.emplace_back("no shard has published its night: only the fleet is told");
  RZ_TRY_ASSIGN(auto described, fleet::describe_fleet(layout, fleet, hub ? &*hub : nullptr));
  described.not_described = std::move(problems);
  described.has_night = night.has_value();
  print_fleet(flags, described, out);
  if (flags.count("out") != 0)
    RZ_TRY(write_pages(flags["out"].as<std::string>(), night, described));
  if (!night) return kInterrupted;
  // New findings determine the exit code even if a shard has not ended.
  if (report::alarms_of(*night).count() > 0 && night->exit_code != kUnsound) return kFound;
  return night->exit_code;
}

}  // namespace redzone::cli
