#include "engine/program_findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/build_environment.h"
#include "guard/stored_finding.h"

namespace redzone::engine {
namespace {

// Device names of findings, by the kind of allocation; the guard does not query the driver for the
// device's name.
constexpr const char *kHost = "host", *kCuda = "cuda";

Finding finding_of(const guard::JoinedFinding& joined, std::span<const guard::ProgramRun> runs) {
  Finding out = guard::stored_finding(runs[joined.run], joined.distinct);
  out.environment =
      collect_environment(joined.distinct.first.on_device ? kCuda : kHost, "", 0, "", "");
  out.reliability = {static_cast<std::int64_t>(joined.seen_in),
                     static_cast<std::int64_t>(runs.size())};
  out.state = state_of(out.reliability);
  out.plans_to_first = joined.run;
  return out;
}

CampaignStats stats_of(std::span<const guard::ProgramRun> runs) {
  CampaignStats out;
  out.plans = out.trials = runs.size();
  for (const auto& run : runs) {
    if (!run.findings().empty())
      ++out.fail;
    else if (run.is_judged())
      ++out.pass;
    else
      ++out.inconclusive;
  }
  return out;
}

// Returns the campaign of the runs. A folder of attached processes is one campaign, however often
// and into whichever store it is collected; each other series of runs is a new campaign.
Result<CampaignRecord> campaign_of(store::Store& store, const CampaignRecord& campaign) {
  if (!campaign.uid.empty()) return store.join_campaign(campaign);
  RZ_TRY_ASSIGN(const auto id, store.begin_campaign(campaign));
  return store.campaign(id);
}

// Number of processes of a folder that show the finding and have not been counted yet.
Result<std::int64_t> not_counted(store::Store& store, const Finding& finding,
                                 const guard::JoinedFinding& seen) {
  const auto processes = static_cast<std::int64_t>(seen.distinct.in_processes);
  RZ_TRY_ASSIGN(const auto known, store.find(finding.signature));
  if (!known) return processes;
  RZ_TRY_ASSIGN(const auto counted, store.occurrences(known->id));
  return std::max<std::int64_t>(processes - counted, 0);
}

// Adds one occurrence for a series of runs, or one for each process of a folder that was not
// counted.
Result<store::Recorded> settle(store::Store& store, const Finding& finding,
                               const guard::JoinedFinding& seen, bool of_folder) {
  std::int64_t more = 1;
  if (of_folder) {
    RZ_TRY_ASSIGN(more, not_counted(store, finding, seen));
  }
  if (more == 0) {
    RZ_TRY_ASSIGN(const auto known, store.find(finding.signature));
    return store::Recorded{.id = known->id, .state = known->state};
  }
  // A stored finding with the same signature is kept, with one more occurrence.
  RZ_TRY_ASSIGN(const auto settled, store.settle(finding, false));
  if (more > 1) RZ_TRY(store.sighted(settled.id, more - 1));
  return settled;
}

}  // namespace

Result<std::vector<guard::KnownFinding>> store_program_findings(
    store::Store& store, std::span<const guard::ProgramRun> runs, const std::string& command,
    std::uint64_t seed) {
  const auto joined = guard::joined_findings(runs);
  const bool on_device = std::any_of(
      joined.begin(), joined.end(), [](const auto& each) { return each.distinct.first.on_device; });
  const bool of_folder = !runs.front().folder_uid.empty();
  CampaignRecord begun;
  begun.uid = runs.front().folder_uid;
  begun.seed = seed;
  begun.device = on_device ? kCuda : kHost;
  begun.command = command;
  RZ_TRY_ASSIGN(const auto campaign, campaign_of(store, begun));
  CampaignStats stats = stats_of(runs);
  stats.new_findings = campaign.stats.new_findings;
  std::vector<guard::KnownFinding> out;
  for (const auto& each : joined) {
    guard::KnownFinding& row = out.emplace_back();
    row.signature = guard::signature(each.distinct.first);
    row.key = each.distinct.key;
    Finding finding = finding_of(each, runs);
    finding.campaign = campaign.id;
    if (const auto problem = problem_of(*finding.program)) {
      row.problem = *problem;
      continue;
    }
    RZ_TRY_ASSIGN(const auto settled, settle(store, finding, each, of_folder));
    RZ_TRY_ASSIGN(const auto stored, store.finding(settled.id));
    row.id = settled.id;
    row.is_new = settled.is_new;
    row.ledger = stored.ledger;
    ++(row.is_new ? stats.new_findings : stats.known_findings);
  }
  RZ_TRY(store.end_campaign(campaign.id, stats));
  return out;
}

Result<std::vector<guard::KnownFinding>> known_program_findings(
    store::Store& store, std::span<const guard::ProgramRun> runs) {
  std::vector<guard::KnownFinding> out;
  for (const auto& each : guard::joined_findings(runs)) {
    guard::KnownFinding& row = out.emplace_back();
    row.signature = guard::signature(each.distinct.first);
    row.key = each.distinct.key;
    RZ_TRY_ASSIGN(const auto stored,
                  store.find(guard::stored_signature(runs[each.run], each.distinct)));
    if (!stored) continue;
    row.id = stored->id;
    row.ledger = stored->ledger;
  }
  return out;
}

Result<std::vector<std::string>> problems_of_programs(store::Store& store) {
  std::vector<std::string> out;
  RZ_TRY_ASSIGN(const auto findings, store.findings());
  for (const auto& finding : findings) {
    if (!finding.program) continue;
    if (const auto settings = guard::settings_of(*finding.program); !settings)
      out.push_back(fmt::format("finding {}: {}", finding.id, settings.error().message));
  }
  return out;
}

}  // namespace redzone::engine
