#include "nightly/trend.h"

#include <algorithm>

#include "nightly/exit_code.h"

namespace redzone::nightly {
namespace {

constexpr std::size_t kNightsShown = 60;

// Adds the finding to the count of its standing at the end of each night. `entries`: entries of the
// finding, sorted.
void add_standings(std::vector<report::NightTrend>& trend, std::span<const NightParts> nights,
                   const Finding& finding, std::span<const LedgerEntry> entries) {
  for (std::size_t i = 0; i + 1 < nights.size(); ++i) {
    if (nights[i].ended_before(finding)) continue;
    Standing standing = Standing::fresh;
    for (const auto& entry : entries)
      if (nights[i].covers(entry)) standing = after(standing, entry.event);
    ++trend[i].findings[standing];
  }
  ++trend.back().findings[finding.ledger.standing];
}

}  // namespace

Result<std::vector<report::NightTrend>> night_trend(store::Store& store, const NightFacts& facts) {
  const std::span nights =
      std::span(facts.nights).last(std::min(facts.nights.size(), kNightsShown));
  store::NightBook book(store);
  std::vector<report::NightTrend> trend;
  for (const auto& night : nights) {
    report::NightTrend& t = trend.emplace_back();
    t.campaign = night.campaign();
    t.exit_code = exit_code_of(night);
    for (const auto& run : night.runs) {
      const auto& campaign = facts.campaigns.at(run.campaign);
      t.started = t.started.empty() ? campaign.started : std::min(t.started, campaign.started);
      t.plans += campaign.stats.plans;
      t.calls += campaign.stats.calls;
      RZ_TRY_ASSIGN(const auto seconds, book.device_seconds(run.campaign));
      for (const auto& [target, s] : seconds)
        if (s > 0) t.device_seconds[target] += s;
    }
  }
  for (const auto& f : facts.findings) {
    if (!was_found(f.state)) continue;
    const auto entries = facts.entries.find(f.id);
    add_standings(trend, nights, f,
                  entries == facts.entries.end() ? std::span<const LedgerEntry>()
                                                 : std::span<const LedgerEntry>(entries->second));
  }
  return trend;
}

}  // namespace redzone::nightly
