// An hour of a fleet, or of nights by themselves, in memory and on a simulated clock: the shards'
// and the hub's own code, with doubles for the shared folder and for the fuzzing. It shows what the
// fleet costs its shards, and when its hub no longer keeps up.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fleet/memory_fleet.h"
#include "store/sample.h"

namespace redzone::fleet::testing {

// Seconds. What a shard pays is counted as if its night stood still meanwhile, which it does not:
// another process publishes, and fuzzing goes on while an answer is waited for.
struct FleetCosts {
  double publish = 0.2, ask = 0.002, look = 0.0001;  // a shard: a snapshot, a question, an answer?
  double merge = 0.12, cycle = 0.2;  // the hub: a snapshot, what follows a round of them
  double reduce = 0;                 // a shard: one reduction
  double pull = 0.05;                // a shard: reading the hub's store
};

struct SimulatedNight {
  int shards = 1;
  bool fleet = true;  // false: each is a night by itself
  double seconds = 3600;
  double plans_per_second = 100;
  double snapshot_seconds = 120;
  int signatures = 200;  // that there are
  int met = 30;          // by each shard, at random times
};

struct SimulatedFigures {
  double plans = 0;
  double fleet_seconds = 0;  // of all shards, for the fleet
  double hub_seconds = 0;    // that the hub worked
  // Files written, looks for an answer that may not be there yet, and copies of the hub's store
  // that shards read. A shard also looks for `stop` five times a second, which is not counted.
  std::int64_t files = 0, looks = 0, pulls = 0;
  std::int64_t merges = 0, questions = 0, reductions = 0;
  std::int64_t reduced = 0;     // signatures
  double longest_wait = 0;      // for an answer, or until it was given up
  double longest_unmerged = 0;  // from publishing to the copy that has it
};

class SimulatedFleet {
 public:
  SimulatedFleet(const SimulatedNight& night, const FleetCosts& costs)
      : night_(night), costs_(costs), folder_(share_, 1), hub_(folder_, clock(), kTimes.lease) {
    share_.hub_attempt = 1;
    for (int i = 0; i < night.shards; ++i) add_shard(i);
    if (night.fleet) at(0, [this] { run_hub(); });
  }

  SimulatedFigures run() {
    store::testing::must(hub_.begin());
    while (!events_.empty() && events_.top().at < night_.seconds) {
      const auto event = events_.top();
      events_.pop();
      now_ = event.at;
      event.act();
    }
    for (const double spent : spent_)
      figures_.plans += std::max(0.0, night_.seconds - spent) * night_.plans_per_second;
    figures_.files = share_.messages;
    figures_.looks = share_.looks;
    figures_.pulls = share_.pulls;
    figures_.questions = share_.questions;
    figures_.merges = hub_.figures().merges;
    figures_.reduced = static_cast<std::int64_t>(share_.reduced.size());
    return figures_;
  }

 private:
  static constexpr LeaseTimes kTimes{};
  // As hub_job.cpp and shard_job.cpp have them.
  static constexpr double kAnswerEvery = 0.5, kCollectEvery = 10, kLookForFindings = 10;

  struct Event {
    double at = 0;
    std::int64_t number = 0;  // those of one time happen in the order in which they were added
    std::function<void()> act;
    bool operator>(const Event& other) const {
      return std::pair(at, number) > std::pair(other.at, other.number);
    }
  };

  std::function<double()> clock() {
    return [this] { return now_; };
  }
  void at(double time, std::function<void()> act) {
    events_.push({time, ++events_so_far_, std::move(act)});
  }

  void add_shard(int i) {
    std::mt19937_64 random(static_cast<std::uint64_t>(i) + 1);
    const auto within = [&random](double seconds) {
      return seconds * static_cast<double>(random() >> 11) / 9007199254740992.0;
    };
    shards_.push_back(std::make_unique<MemoryShard>(share_, Attempt{i + 1, 1}, clock(), kTimes));
    spent_.push_back(0);
    if (night_.fleet) at(within(night_.snapshot_seconds), [this, i] { publish_regularly(i); });
    std::set<int> met;
    while (static_cast<int>(met.size()) < std::min(night_.met, night_.signatures))
      met.insert(static_cast<int>(random() % static_cast<std::uint64_t>(night_.signatures)));
    for (const int signature : met)
      at(within(night_.seconds), [this, i, name = std::to_string(signature)] { meet(i, name); });
  }

  MemoryShard& shard(int i) { return *shards_[static_cast<std::size_t>(i)]; }
  void pay(int i, double seconds) {
    spent_[static_cast<std::size_t>(i)] += seconds;
    figures_.fleet_seconds += seconds;
  }

  void publish(int i) {
    pay(i, costs_.publish);
    shard(i).publish(share_);
    published_.emplace(shard(i).attempt, now_);
  }
  void publish_regularly(int i) {
    publish(i);
    at(now_ + night_.snapshot_seconds, [this, i] { publish_regularly(i); });
  }
  // Findings are other ones than in the latest snapshot: seen when the store is looked into next.
  void change(int i) {
    if (!night_.fleet || !changed_.insert(i).second) return;
    at(now_ + kLookForFindings / 2, [this, i] {
      changed_.erase(i);
      publish(i);
    });
  }
  void meet(int i, const std::string& signature) {
    if (!night_.fleet) return reduce(i, signature);
    change(i);
    pay(i, costs_.ask);
    look(i, signature, now_);
  }
  // Asked after each plan, in fact; here the answer is seen half a second late at most.
  void look(int i, const std::string& signature, double asked) {
    const auto pulls = share_.pulls;
    const auto reduces = shard(i).leases.reduces(signature);
    pay(i, static_cast<double>(share_.pulls - pulls) * costs_.pull);
    figures_.longest_wait = std::max(figures_.longest_wait, now_ - asked);
    if (!reduces) {
      pay(i, costs_.look * night_.plans_per_second * kAnswerEvery);
      at(now_ + kAnswerEvery, [this, i, signature, asked] { look(i, signature, asked); });
    } else if (*reduces) {
      reduce(i, signature);
    }
  }
  void reduce(int i, const std::string& signature) {
    ++figures_.reductions;
    spent_[static_cast<std::size_t>(i)] += costs_.reduce;
    at(now_ + costs_.reduce, [this, i, signature] {
      share_.reduced.insert(signature);
      shard(i).things.insert(signature);
      change(i);
    });
  }
  // One round of hub_job.cpp's loop, which answers nobody while it merges.
  void run_hub() {
    store::testing::must(hub_.answer());
    double took = 0;
    if (now_ >= next_collect_) {
      const auto before = hub_.figures().merges;
      if (store::testing::must(hub_.collect())) took += costs_.cycle;
      took += static_cast<double>(hub_.figures().merges - before) * costs_.merge;
      for (const auto& [attempt, time] : published_)
        figures_.longest_unmerged = std::max(figures_.longest_unmerged, now_ + took - time);
      published_.clear();
      next_collect_ = now_ + kCollectEvery;
      figures_.hub_seconds += took;
    }
    at(now_ + took + kAnswerEvery, [this] { run_hub(); });
  }

  SimulatedNight night_;
  FleetCosts costs_;
  double now_ = 0, next_collect_ = 0;
  MemoryShare share_;
  MemoryHub folder_;
  Hub hub_;
  std::vector<std::unique_ptr<MemoryShard>> shards_;
  std::vector<double> spent_;            // by shard, on anything but plans
  std::map<Attempt, double> published_;  // not merged yet: since when
  std::set<int> changed_;                // shards with findings that no snapshot has
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::int64_t events_so_far_ = 0;
  SimulatedFigures figures_;
};

}  // namespace redzone::fleet::testing
