#include "nightly/facts.h"

#include <fmt/format.h>

#include <algorithm>

namespace redzone::nightly {
namespace {

class Loading {
 public:
  Loading(store::Store& store, bool running) : store_(store), book_(store), running_(running) {}

  Result<NightFacts> of(std::int64_t id) {
    RZ_TRY(nights(id));
    for (const auto& run : facts_.night().runs) RZ_TRY(part(run));
    for (auto& [name, target] : facts_.targets) target.share /= parts_of_[name];
    RZ_TRY(findings());
    return std::move(facts_);
  }

 private:
  Result<void> nights(std::int64_t id) {
    RZ_TRY_ASSIGN(auto runs, book_.runs());
    RZ_TRY_ASSIGN(auto campaigns, store_.campaigns());
    facts_.nights = nights_of(std::move(runs), campaigns, running_ ? id : 0);
    const auto night = std::find_if(facts_.nights.begin(), facts_.nights.end(),
                                    [&](const auto& n) { return n.holds(id); });
    if (night == facts_.nights.end()) return no_night(id);
    is_latest_ = night + 1 == facts_.nights.end();
    facts_.nights.erase(night + 1, facts_.nights.end());
    for (auto& campaign : campaigns) facts_.campaigns[campaign.id] = std::move(campaign);
    for (const auto& each : facts_.nights)
      for (const auto& run : each.runs)
        if (!facts_.campaigns.contains(run.campaign))
          return unsound_error(fmt::format(
              "night {} has no campaign: 'redzone db check' lists all problems", run.campaign));
    return {};
  }

  Result<void> no_night(std::int64_t id) const {
    if (facts_.nights.empty()) return usage_error(kNoNight);
    return usage_error(fmt::format("the store holds no night {}: the latest is {}", id,
                                   facts_.nights.back().campaign()));
  }

  Result<void> part(const store::NightRun& run) {
    RZ_TRY_ASSIGN(auto replays, book_.replays(run.campaign));
    for (auto& replay : replays) {
      auto& known = facts_.replays[replay.subject];
      const bool more = known.subject.empty() || replay.failed.n > known.failed.n;
      if (more) known = std::move(replay);
    }
    RZ_TRY_ASSIGN(const auto targets, book_.targets(run.campaign));
    for (const auto& t : targets) {
      store::NightTarget& sum = facts_.targets[t.target];
      if (++parts_of_[t.target] == 1) {
        sum = t;
        continue;
      }
      sum += t;
      sum.share += t.share;
      if (t.not_fuzzed.empty()) sum.not_fuzzed.clear();
    }
    RZ_TRY_ASSIGN(const auto occurrences, book_.occurrences(run.campaign));
    for (const auto& [finding, plans] : occurrences) facts_.occurrences[finding] += plans;
    return {};
  }

  Result<void> findings() {
    RZ_TRY_ASSIGN(auto entries, store_.all_entries());
    facts_.entries = std::move(entries);
    for (auto& [finding, of] : facts_.entries) std::sort(of.begin(), of.end());
    RZ_TRY_ASSIGN(auto findings, store_.findings());
    facts_.findings = std::move(findings);
    if (facts_.night().until.empty()) return {};
    // Programs run independently of nights, so the latest report includes program findings made
    // since.
    std::erase_if(facts_.findings, [&](const auto& f) {
      return facts_.night().ended_before(f) && !is_ours(f) && !(f.program && is_latest_);
    });
    if (!is_latest_)
      for (auto& f : facts_.findings) f.ledger = ledger_then(facts_.entries[f.id]);
    return {};
  }

  Ledger ledger_then(std::vector<LedgerEntry> entries) const {
    std::erase_if(entries, [&](const auto& entry) { return !facts_.night().covers(entry); });
    return ledger_of(std::move(entries));
  }

  bool is_ours(const Finding& f) const {
    return facts_.night().holds(f.campaign) || facts_.occurrences.contains(f.id) ||
           facts_.replays.contains(f.signature.hash());
  }

  store::Store& store_;
  store::NightBook book_;
  bool running_, is_latest_ = false;
  std::map<std::string, int> parts_of_;  // number of parts of the night that had the target
  NightFacts facts_;
};

}  // namespace

bool NightFacts::was_found(const Finding& finding) const {
  const auto of = entries.find(finding.id);
  if (of == entries.end() || !occurrences.contains(finding.id)) return false;
  const NightParts& n = night();
  return std::any_of(of->second.begin(), of->second.end(), [&](const LedgerEntry& entry) {
    return entry.event == LedgerEvent::failed && entry.at >= n.began && n.covers(entry);
  });
}

Result<NightFacts> load_night(store::Store& store, std::int64_t campaign, bool running) {
  return Loading(store, running).of(campaign);
}

}  // namespace redzone::nightly
