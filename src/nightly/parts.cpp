#include "nightly/parts.h"

#include <algorithm>
#include <ctime>
#include <map>
#include <tuple>

#include "campaign/shard.h"
#include "core/campaign_record.h"
#include "nightly/nightly.h"

namespace redzone::nightly {
namespace {

using store::NightRun;

constexpr std::size_t kSecond = std::string_view("2025-01-31T12:34:56").size();

std::time_t time_of(const std::string& utc) {
  std::tm tm{};
  return ::strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%S", &tm) == nullptr ? 0 : ::timegm(&tm);
}

bool is_shared(const NightRun& run) {
  return run.shards > 1 || !run.fleet.empty();
}

// True if the run is a part of `night`, the latest night with its fleet, seed and number of shards.
bool belongs(const NightParts& night, const NightRun& run) {
  if (!run.fleet.empty()) return true;
  const auto same_shard = [&](const NightRun& part) { return part.shard == run.shard; };
  const auto seconds = static_cast<double>(time_of(run.began) - time_of(night.began));
  return seconds < NightlyOptions::kResumeDays * 24 * 60 * 60 &&
         std::none_of(night.runs.begin(), night.runs.end(), same_shard);
}

// Groups the runs into nights, sorted by when they began.
std::vector<NightParts> together(std::vector<NightRun> runs, std::int64_t alone) {
  std::sort(runs.begin(), runs.end(), [](const NightRun& a, const NightRun& b) {
    return std::tie(a.began, a.campaign) < std::tie(b.began, b.campaign);
  });
  std::vector<NightParts> nights;
  // The latest night by fleet, base seed and number of shards.
  std::map<std::tuple<std::string, std::uint64_t, int>, std::size_t> latest;
  for (auto& run : runs) {
    if (run.campaign == alone) {
      nights.push_back({.runs = {run}, .began = run.began, .ended = "", .until = ""});
      continue;
    }
    const std::tuple key(run.fleet, run.base_seed, run.shards);
    const auto it = is_shared(run) ? latest.find(key) : latest.end();
    const bool part = it != latest.end() && belongs(nights[it->second], run);
    if (!part) {
      latest[key] = nights.size();
      nights.emplace_back().began = run.began;
    }
    nights[latest[key]].runs.push_back(std::move(run));
  }
  return nights;
}

std::string last_end(const NightParts& night, const std::map<std::int64_t, std::string>& ends) {
  std::string last;
  for (const auto& run : night.runs) {
    const auto end = ends.find(run.campaign);
    if (end == ends.end() || end->second.empty()) return "";
    last = std::max(last, end->second);
  }
  return last;
}

// `next`: when the first later night began, counted from when all runs of this night had begun; ""
// if there is none.
std::string until_of(const NightParts& night, const std::string& next) {
  const bool same_second = !next.empty() && night.ended.starts_with(next.substr(0, kSecond));
  return night.ended.empty() || same_second ? next : night.ended;
}

}  // namespace

std::int64_t NightParts::campaign() const {
  return std::min_element(
             runs.begin(), runs.end(),
             [](const NightRun& a, const NightRun& b) { return a.campaign < b.campaign; })
      ->campaign;
}

std::vector<NightParts::OpenShard> NightParts::open_shards() const {
  const bool alone = runs.size() == 1 && runs.front().fleet.empty();
  std::vector<OpenShard> open;
  for (int shard = 1; shard <= runs.front().shards; ++shard) {
    if (alone && shard != runs.front().shard) continue;
    OpenShard at{.shard = shard};
    const bool finished = std::any_of(runs.begin(), runs.end(), [&](const NightRun& run) {
      at.has_begun = at.has_begun || run.shard == shard;
      return run.shard == shard && run.finished();
    });
    if (!finished) open.push_back(at);
  }
  return open;
}

bool NightParts::holds(std::int64_t campaign) const {
  return std::any_of(runs.begin(), runs.end(),
                     [&](const NightRun& run) { return run.campaign == campaign; });
}

bool NightParts::owns(std::string_view key) const {
  return std::any_of(runs.begin(), runs.end(), [&](const NightRun& run) {
    return campaign::Shard{run.shard, run.shards}.owns(key);
  });
}

bool NightParts::covers(const LedgerEntry& entry) const {
  if (until.empty()) return true;
  const bool seen = entry.event == LedgerEvent::failed || entry.event == LedgerEvent::passed;
  return seen ? entry.at <= until : entry.at < std::max(began, until.substr(0, kSecond));
}

bool NightParts::ended_before(const Finding& finding) const {
  if (until.empty() || holds(finding.campaign)) return false;
  const std::string seen = finding.first_seen.substr(0, kSecond), end = until.substr(0, kSecond);
  return seen > end || (seen == end && finding.campaign > campaign());
}

std::vector<NightParts> nights_of(std::vector<NightRun> runs,
                                  const std::vector<CampaignRecord>& campaigns,
                                  std::int64_t running) {
  std::map<std::int64_t, std::string> ends;
  for (const auto& campaign : campaigns) ends[campaign.id] = campaign.ended;
  auto nights = together(std::move(runs), running);
  for (auto night = nights.begin(); night != nights.end(); ++night) {
    if (night->holds(running)) continue;
    const std::string last_began = night->runs.back().began;
    const auto next =
        std::find_if(night, nights.end(), [&](const auto& n) { return n.began > last_began; });
    night->ended = last_end(*night, ends);
    night->until = until_of(*night, next == nights.end() ? "" : next->began);
  }
  for (auto& night : nights)
    std::sort(night.runs.begin(), night.runs.end(),
              [](const NightRun& a, const NightRun& b) { return a.shard < b.shard; });
  // Compares whole seconds, the resolution of end times. Of two nights in the same second, the one
  // that was cut off sorts later, since a night begins when the previous one has ended.
  const auto order = [running](const NightParts& night) {
    const bool cut_off = night.ended.empty();
    return std::tuple(night.holds(running),
                      (cut_off ? night.began : night.ended).substr(0, kSecond), cut_off);
  };
  std::stable_sort(nights.begin(), nights.end(),
                   [&](const auto& a, const auto& b) { return order(a) < order(b); });
  return nights;
}

}  // namespace redzone::nightly
