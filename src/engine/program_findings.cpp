#include "engine/program_findings.h"

#include <algorithm>

#include "guard/stored_finding.h"
#include "store/environment.h"

namespace redzone::engine {
namespace {

// Allocations of which device a finding is about; the guard does not ask the driver for its name.
constexpr const char *kHost = "host", *kCuda = "cuda";

Finding finding_of(const guard::JoinedFinding& joined, std::span<const guard::ProgramRun> runs) {
  Finding out = guard::stored_finding(runs[joined.run], joined.distinct);
  out.environment =
      store::collect_environment(joined.distinct.first.on_device ? kCuda : kHost, "", 0, "", "");
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

}  // namespace

Result<std::vector<guard::KnownFinding>> store_program_findings(
    store::Store& store, std::span<const guard::ProgramRun> runs, const std::string& command,
    std::uint64_t seed) {
  const auto joined = guard::joined_findings(runs);
  const bool on_device = std::any_of(
      joined.begin(), joined.end(), [](const auto& each) { return each.distinct.first.on_device; });
  CampaignRecord campaign;
  campaign.seed = seed;
  campaign.device = on_device ? kCuda : kHost;
  campaign.command = command;
  RZ_TRY_ASSIGN(const auto id, store.begin_campaign(campaign));
  CampaignStats stats = stats_of(runs);
  std::vector<guard::KnownFinding> out;
  for (const auto& each : joined) {
    guard::KnownFinding& row = out.emplace_back();
    row.signature = guard::signature(each.distinct.first);
    row.key = each.distinct.key;
    Finding finding = finding_of(each, runs);
    finding.campaign = id;
    if (const auto problem = problem_of(*finding.program)) {
      row.problem = *problem;
      continue;
    }
    // Not this finding's place to take: one of the same signature stays, with a run more.
    RZ_TRY_ASSIGN(const auto settled, store.settle(finding, false));
    RZ_TRY_ASSIGN(const auto stored, store.finding(settled.id));
    row.id = settled.id;
    row.is_new = settled.is_new;
    row.ledger = stored.ledger;
    ++(row.is_new ? stats.new_findings : stats.known_findings);
  }
  RZ_TRY(store.end_campaign(id, stats));
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

}  // namespace redzone::engine
