#include "fleet/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <map>
#include <set>

#include "core/enum_names.h"
#include "core/exit_code.h"
#include "fleet/compare.h"
#include "fleet/record_file.h"
#include "fleet/shared_folder.h"
#include "store/night.h"

namespace redzone::fleet {
namespace {

double seconds_between(const std::string& from, const std::string& to) {
  const auto time_of = [](const std::string& utc) {
    std::tm tm{};
    return ::strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%S", &tm) == nullptr ? std::time_t{0}
                                                                        : ::timegm(&tm);
  };
  return std::difftime(time_of(to), time_of(from));
}

std::string state_of(const AttemptStatus& status, const HubStatus& hub) {
  if (is_lost(status, hub)) return "lost";
  if (!status.has_ended()) return "running";
  if (status.exit_code == kInterrupted) return "cut off";
  const bool judged =
      status.exit_code == kOk || status.exit_code == kFound || status.exit_code == kNotJudged;
  return judged && !status.failed ? "ended" : "failed";
}

// The job that the attempt belongs to.
report::FleetJob job_of(const Attempt& attempt, int shards) {
  if (attempt.shard == kHubShard) return {"hub", 1};
  if (attempt.shard <= shards) return {"shard", attempt.shard};
  return {"examination", attempt.shard - shards};
}

class Attempts {
 public:
  Attempts(report::Fleet& out, const std::map<Attempt, AttemptStatus>& attempts,
           const HubStatus& hub)
      : out_(out), attempts_(attempts), hub_(hub) {}

  void describe() {
    const auto shards = static_cast<int>(out_.shards.size());
    for (auto it = attempts_.begin(); it != attempts_.end(); ++it) {
      const auto& [attempt, status] = *it;
      const report::FleetJob job = job_of(attempt, shards);
      const auto at = static_cast<std::size_t>(job.number) - 1;
      if (job.kind == "hub") {
        ++out_.hub_attempts;
      } else if (job.kind == "shard") {
        report::FleetShard& shard = out_.shards[at];
        note(shard, status);
        if (!status.published.empty()) shard.published = status.published;
      } else if (at < out_.models.size()) {
        note(out_.models[at], status);
      } else {
        continue;
      }
      const auto next = std::next(it);
      const bool again = next != attempts_.end() && next->first.shard == attempt.shard;
      const bool lost = !status.has_ended() && (again || is_lost(status, hub_));
      if (!lost && !status.failed) continue;
      out_.losses.push_back({.job = job,
                             .attempt = attempt.number,
                             .host = status.host,
                             .why = lost ? "it ended without a word" : status.problem,
                             .since = status.published.empty() ? status.began : status.published,
                             .again_at = again ? next->second.began : ""});
    }
  }

 private:
  template <class Row>
  void note(Row& row, const AttemptStatus& status) {
    ++row.attempts;
    row.state = state_of(status, hub_);
    row.host = status.host;
    row.problem = status.problem;
  }

  report::Fleet& out_;
  const std::map<Attempt, AttemptStatus>& attempts_;
  const HubStatus& hub_;
};

// Reads the hub's status; empty if no hub has written one yet, or it cannot be read.
std::optional<HubStatus> read_hub(report::Fleet& out, const Layout& layout) {
  std::error_code ignored;
  if (!std::filesystem::exists(layout.hub_status(), ignored)) return std::nullopt;
  auto status = read_record<HubStatus>(layout.hub_status());
  if (status) return *std::move(status);
  out.problems.push_back(status.error().message);
  return std::nullopt;
}

void add_hub(report::Fleet& out, const std::optional<HubStatus>& status) {
  out.hub_state = out.hub_attempts == 0 ? "waiting" : "running";
  if (!status) return;
  if (!status->ended.empty()) out.hub_state = "ended";
  out.hub_host = status->host;
  out.hub_updated = status->updated;
  out.merges = status->merges;
  out.granted = status->granted;
  out.leased = status->leased;
  out.reduced = status->reduced;
  out.merge_seconds = status->merge_seconds;
  out.problems = status->problems;
}

// The runs of the fleet's shards: the store that the fleet started from may contain runs of others.
Result<std::vector<store::NightRun>> runs_of(const Fleet& fleet, store::Store& hub) {
  RZ_TRY_ASSIGN(auto runs, store::NightBook(hub).runs());
  std::erase_if(runs, [&](const auto& run) { return run.fleet != fleet.uid; });
  return runs;
}

// Maps each campaign of the fleet's night in the store to the shard that ran it.
Result<std::map<std::int64_t, int>> shards_by_campaign(const Fleet& fleet, store::Store& store) {
  RZ_TRY_ASSIGN(const auto runs, runs_of(fleet, store));
  std::map<std::int64_t, int> shards;
  for (const auto& run : runs)
    if (run.shard >= 1 && run.shard <= fleet.shards) shards[run.campaign] = run.shard;
  return shards;
}

Result<void> add_store(report::Fleet& out, const Fleet& fleet, store::Store& hub) {
  RZ_TRY_ASSIGN(const auto shards, shards_by_campaign(fleet, hub));
  RZ_TRY_ASSIGN(const auto campaigns, hub.campaigns());
  RZ_TRY_ASSIGN(const auto findings, hub.findings());
  std::map<std::int64_t, report::FleetShard*> shard_of;  // by campaign
  for (const auto& [campaign, shard] : shards)
    shard_of[campaign] = &out.shards[static_cast<std::size_t>(shard) - 1];
  for (const auto& campaign : campaigns) {
    const auto shard = shard_of.find(campaign.id);
    if (shard == shard_of.end()) continue;
    shard->second->device = campaign.device;
    shard->second->plans += campaign.stats.plans;
    shard->second->seconds += campaign.stats.seconds;
  }
  RZ_TRY_ASSIGN(const auto met_by, shards_that_met(fleet, hub));
  std::string first;
  for (const auto& finding : findings) {
    // The finding's environment is that of its best plan, so its devices are those of the shards
    // that met it. A finding that no shard met was known before.
    std::set<std::string> devices;
    if (const auto shards = met_by.find(finding.id); shards != met_by.end())
      for (const int met : shards->second)
        devices.insert(out.shards[static_cast<std::size_t>(met) - 1].device);
    if (devices.empty()) devices.insert(finding.environment.device);
    for (const auto& device : devices) ++out.findings[device][std::string(name_of(finding.state))];
    const auto shard = shard_of.find(finding.campaign);
    if (shard == shard_of.end() || !was_found(finding.state)) continue;
    ++shard->second->findings;
    if (first.empty() || finding.first_seen < first) first = finding.first_seen;
  }
  RZ_TRY_ASSIGN(out.comparisons, compare_devices(hub));
  if (!first.empty()) out.seconds_to_first = std::max(0.0, seconds_between(fleet.created, first));
  return {};
}

}  // namespace

Result<std::map<std::int64_t, std::set<int>>> shards_that_met(const Fleet& fleet,
                                                              store::Store& store) {
  RZ_TRY_ASSIGN(const auto shards, shards_by_campaign(fleet, store));
  std::map<std::int64_t, std::set<int>> met_by;
  for (const auto& [campaign, shard] : shards) {
    RZ_TRY_ASSIGN(const auto met, store::NightBook(store).occurrences(campaign));
    for (const auto& [finding, plans] : met) met_by[finding].insert(shard);
  }
  return met_by;
}

Result<report::Fleet> describe_fleet(const Layout& layout, const Fleet& fleet, store::Store* hub) {
  report::Fleet out;
  out.folder = layout.root.string();
  out.created = fleet.created;
  out.version = fleet.version;
  out.seed = fleet.seed;
  for (int i = 1; i <= fleet.shards; ++i) {
    auto& shard = out.shards.emplace_back();
    shard.shard = i;
    shard.state = "waiting";
  }
  for (const auto& model : fleet.models) {
    auto& row = out.models.emplace_back();
    row.name = model.name;
    row.shards = model.shards;
    row.state = "waiting";
  }
  RZ_TRY_ASSIGN(const auto attempts, read_attempts(layout, fleet.uid));
  const auto hub_status = read_hub(out, layout);
  Attempts(out, attempts, hub_status.value_or(HubStatus{})).describe();
  add_hub(out, hub_status);
  if (hub != nullptr) RZ_TRY(add_store(out, fleet, *hub));
  return out;
}

Result<std::optional<std::int64_t>> night_of(const Fleet& fleet, store::Store& hub) {
  RZ_TRY_ASSIGN(const auto runs, runs_of(fleet, hub));  // by campaign
  return runs.empty() ? std::nullopt : std::optional(runs.front().campaign);
}

}  // namespace redzone::fleet
