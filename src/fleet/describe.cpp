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
#include "nightly/parts.h"
#include "store/night.h"

namespace redzone::fleet {
namespace {

using Attempts = std::map<Attempt, AttemptStatus>;

double seconds_between(const std::string& from, const std::string& to) {
  const auto time_of = [](const std::string& utc) {
    std::tm tm{};
    return ::strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%S", &tm) == nullptr ? std::time_t{0}
                                                                        : ::timegm(&tm);
  };
  return std::difftime(time_of(to), time_of(from));
}

std::string state_of(const AttemptStatus& status) {
  if (!status.has_ended()) return "running";
  switch (status.exit_code) {
    case kInterrupted:
      return "cut off";
    case kOk:
    case kFound:
    case kNotJudged:
      return "ended";
    default:
      return "failed";
  }
}

void add_attempts(report::Fleet& out, const Attempts& attempts) {
  const auto shards = static_cast<int>(out.shards.size());
  for (auto it = attempts.begin(); it != attempts.end(); ++it) {
    const auto& [attempt, status] = *it;
    if (attempt.shard == kHubShard) {
      ++out.hub_attempts;
      continue;
    }
    if (attempt.shard > shards) {
      if (attempt.shard - shards > static_cast<int>(out.models.size())) continue;
      report::FleetModel& model = out.models[static_cast<std::size_t>(attempt.shard - shards) - 1];
      ++model.attempts;
      model.state = state_of(status);
      model.host = status.host;
      model.problem = status.problem;
      continue;
    }
    report::FleetShard& shard = out.shards[static_cast<std::size_t>(attempt.shard) - 1];
    ++shard.attempts;
    shard.state = state_of(status);
    shard.host = status.host;
    if (!status.published.empty()) shard.published = status.published;
    shard.problem = status.problem;
    const auto next = std::next(it);
    if (status.has_ended() || next == attempts.end() || next->first.shard != attempt.shard)
      continue;
    out.losses.push_back({.shard = attempt.shard,
                          .attempt = attempt.number,
                          .host = status.host,
                          .since = status.published.empty() ? status.began : status.published,
                          .again_at = next->second.began});
  }
}

void add_hub(report::Fleet& out, const Layout& layout) {
  out.hub_state = out.hub_attempts == 0 ? "waiting" : "running";
  std::error_code ignored;
  if (!std::filesystem::exists(layout.hub_status(), ignored)) return;
  const auto status = read_record<HubStatus>(layout.hub_status());
  if (!status) {
    out.problems.push_back(status.error().message);
    return;
  }
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

// The runs of the fleet's shards: of an earlier fleet with the same seed there may be others.
Result<std::vector<store::NightRun>> runs_of(const Fleet& fleet, store::Store& hub) {
  RZ_TRY_ASSIGN(auto runs, store::NightBook(hub).runs());
  RZ_TRY_ASSIGN(const auto campaigns, hub.campaigns());
  std::vector<store::NightRun> latest;
  for (auto& night : nightly::nights_of(std::move(runs), campaigns))
    if (night.runs.front().base_seed == fleet.seed && night.runs.front().shards == fleet.shards)
      latest = std::move(night.runs);
  return latest;
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
  std::string first;
  for (const auto& finding : findings) {
    ++out.findings[finding.environment.device][std::string(name_of(finding.state))];
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

Result<std::map<std::int64_t, int>> shards_by_campaign(const Fleet& fleet, store::Store& store) {
  RZ_TRY_ASSIGN(const auto runs, runs_of(fleet, store));
  std::map<std::int64_t, int> shards;
  for (const auto& run : runs)
    if (run.shard >= 1 && run.shard <= fleet.shards) shards[run.campaign] = run.shard;
  return shards;
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
  add_attempts(out, attempts);
  add_hub(out, layout);
  if (hub != nullptr) RZ_TRY(add_store(out, fleet, *hub));
  return out;
}

Result<std::int64_t> night_of(const Fleet& fleet, store::Store& hub) {
  RZ_TRY_ASSIGN(const auto runs, runs_of(fleet, hub));
  if (runs.empty()) return usage_error("no shard of the fleet has published a night yet");
  return std::min_element(runs.begin(), runs.end(),
                          [](const auto& a, const auto& b) { return a.campaign < b.campaign; })
      ->campaign;
}

}  // namespace redzone::fleet
