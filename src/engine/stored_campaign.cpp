#include "engine/stored_campaign.h"

#include <utility>

#include "engine/campaign_options.h"
#include "engine/plans.h"
#include "engine/store_sink.h"

namespace redzone::engine {
namespace {

std::vector<campaign::TargetUnderTest> targets_of(const Site& site,
                                                  const CampaignRequest& request) {
  std::vector<campaign::TargetUnderTest> targets;
  for (const auto* entry : request.targets)
    targets.push_back({.spec = &entry->spec,
                       .source = generated_plans(entry->spec, site.traits(), site.worker(),
                                                 request.seed, request.allocator, entry),
                       .environment = site.environment(*entry)});
  return targets;
}

Result<StoredCampaign> as_stored(store::Store& store, std::int64_t id,
                                 campaign::CampaignResult result) {
  RZ_TRY_ASSIGN(auto record, store.campaign(id));
  StoredCampaign out{.record = std::move(record), .result = std::move(result)};
  for (const auto& f : out.result.findings) {
    RZ_TRY_ASSIGN(auto stored, store.finding(f.id));
    out.found.push_back(std::move(stored));
  }
  return out;
}

}  // namespace

Result<StoredCampaign> run_campaign(Engine& engine, store::Store& store,
                                    const CampaignRequest& request,
                                    const CampaignWatcher& watcher) {
  const Site& site = engine.site();
  CampaignRecord campaign;
  campaign.seed = request.seed;
  campaign.device = site.worker().device;
  campaign.command = request.command;
  RZ_TRY_ASSIGN(const auto id, store.begin_campaign(campaign));
  auto options = campaign_options(engine, request.time, request.plans_per_target);
  options.id = id;
  options.findings = request.findings;
  options.progress = [&](const campaign::Progress& p) {
    // Report only stored progress; a store error will recur at the next finding.
    if (store.update_campaign(id, p.stats) && watcher.progress) watcher.progress(p);
  };
  options.found = watcher.found;
  options.merged = watcher.merged;
  StoreSink sink(store);
  campaign::Campaign fuzzing(engine.executor(), site.catalog_for(request.targets), simplify_for(),
                             sink, targets_of(site, request), std::move(options));
  auto result = fuzzing.run();
  if (watcher.fuzzed) watcher.fuzzed();
  if (!result) return tl::unexpected(result.error());
  RZ_TRY(store.end_campaign(id, result->stats));
  return as_stored(store, id, std::move(*result));
}

}  // namespace redzone::engine
