// Measures the hub: the time to merge the snapshots of many shards, over real stores, and what a
// fleet of a size asks of its shared folder and its hub in an hour, on a simulated clock. Prints
// the figures; asserts nothing about times.
//
// fleet_bench [SHARDS] [FINDINGS] [SIMULATED_SHARDS]      (100, 10000, 1000)
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <queue>

#include "core/campaign_record.h"
#include "fleet/memory_fleet.h"
#include "fleet/shared_folder.h"
#include "store/database.h"
#include "store/finding_table.h"
#include "store/sample.h"

namespace redzone::fleet {
namespace {

using namespace store::testing;
using namespace testing;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begun) {
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

// A store with findings `first`..`last`, written in one transaction.
store::Store store_with(const std::filesystem::path& file, int first, int last) {
  store::Store store = open_rw(file);
  const auto campaign = must(store.begin_campaign(sample_campaign()));
  const std::string uid = must(store.campaign(campaign)).uid;
  must(store.database().write(store::Durability::lazy, [&] {
    for (int i = first; i <= last; ++i) {
      Finding f = sample_finding(i);
      f.state = FindingState::confirmed;
      f.campaign = campaign;
      store::insert_finding(store.database().sql(), f, uid);
    }
  }));
  return store;
}

struct Measured {
  double merge_seconds = 0;  // of one snapshot, in the mean
  double cycle_seconds = 0;  // of what a cycle does besides merging
  double snapshot_bytes = 0;
};

// The findings are divided among the shards, and each has a tenth of the next one's, too.
Measured measure_hub(int shards, int findings) {
  TempDir dir;
  const Layout layout{dir / "run"};
  must(create_folder(layout, {.uid = "bench", .shards = shards}));
  const int each = std::max(1, findings / shards);
  std::vector<store::Store> stores;
  Measured measured;
  for (int i = 1; i <= shards; ++i) {
    const Attempt attempt = must(claim_attempt(layout, i, {.host = "n"}));
    const int first = (i - 1) * each + 1;
    store::Store store =
        store_with(dir / fmt::format("{}.db", i).c_str(), first, first + each + each / 10);
    must(publish_snapshot(layout, {attempt, 1}, store));
    measured.snapshot_bytes +=
        static_cast<double>(std::filesystem::file_size(layout.snapshot({attempt, 1}))) / shards;
  }
  const Attempt attempt = must(claim_attempt(layout, kHubShard, {.host = "n"}));
  auto folder = must(SharedHub::open(layout, attempt, dir / "hub.db"));
  auto begun = Clock::now();
  for (const auto& snapshot : must(list_snapshots(layout))) must(folder->merge(snapshot));
  measured.merge_seconds = seconds_since(begun) / shards;
  fmt::print("{} shards, {} findings: all merged in {:.2f} s, {:.3f} s each of {:.0f} KiB\n",
             shards, must(folder->store().findings()).size(), measured.merge_seconds * shards,
             measured.merge_seconds, measured.snapshot_bytes / 1024);
  begun = Clock::now();
  must(folder->merge(must(list_snapshots(layout)).front()));
  fmt::print("a snapshot that brings nothing new: {:.3f} s\n", seconds_since(begun));
  begun = Clock::now();
  must(folder->reduced());
  const double reduced = seconds_since(begun);
  begun = Clock::now();
  must(folder->publish());
  const double published = seconds_since(begun);
  measured.cycle_seconds = reduced + published;
  fmt::print("signatures that are reduced: {:.3f} s; publishing: {:.3f} s, {} KiB\n", reduced,
             published, std::filesystem::file_size(layout.hub_store()) / 1024);
  return measured;
}

// An hour of a fleet: each shard publishes every two minutes, and meets `kMet` signatures of
// `kSignatures` at random times, about which it asks. The hub answers twice a second and collects
// every ten seconds.
void simulate(int shards, const Measured& measured) {
  constexpr double kHour = 3600, kPublish = 120, kAnswer = 0.5, kCollect = 10;
  constexpr int kSignatures = 200, kMet = 30;
  double now = 0;
  MemoryShare share;
  share.hub_attempt = 1;
  MemoryHub folder(share, 1);
  Hub hub(
      folder, [&now] { return now; }, LeaseTimes{}.lease);
  must(hub.begin());
  std::vector<std::unique_ptr<MemoryShard>> all;
  struct Event {
    double at = 0;
    int shard = 0, signature = -1;  // -1: publish
    bool operator>(const Event& other) const { return at > other.at; }
  };
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  std::srand(1);
  const auto any = [](int below) { return std::rand() % below; };
  for (int i = 0; i < shards; ++i) {
    all.push_back(std::make_unique<MemoryShard>(
        share, Attempt{i + 1, 1}, [&now] { return now; }, LeaseTimes{}));
    events.push({any(static_cast<int>(kPublish)) + 1.0, i, -1});
    for (int k = 0; k < kMet; ++k)
      events.push({any(static_cast<int>(kHour)) + 1.0, i, any(kSignatures)});
  }
  std::int64_t asked = 0, reductions = 0, waited = 0, collects = 0;
  std::set<std::pair<int, int>> open;  // shard, signature
  const auto ask = [&](int shard, int signature) {
    const std::string name = std::to_string(signature);
    const auto decided = all[static_cast<std::size_t>(shard)]->leases.reduces(name);
    if (!decided) return false;
    if (*decided) {
      ++reductions;
      share.reduced.insert(name);
      all[static_cast<std::size_t>(shard)]->things.insert(name);
    }
    return true;
  };
  double next_collect = kCollect;
  for (; now < kHour; now += kAnswer) {
    while (!events.empty() && events.top().at <= now) {
      const Event event = events.top();
      events.pop();
      if (event.signature < 0) {
        all[static_cast<std::size_t>(event.shard)]->publish(share);
        events.push({event.at + kPublish, event.shard, -1});
      } else {
        ++asked;
        if (!ask(event.shard, event.signature)) open.insert({event.shard, event.signature});
      }
    }
    must(hub.answer());
    for (auto it = open.begin(); it != open.end();) {
      ++waited;
      it = ask(it->first, it->second) ? open.erase(it) : std::next(it);
    }
    if (now < next_collect) continue;
    next_collect += kCollect;
    if (must(hub.collect())) ++collects;
  }
  const auto merges = static_cast<double>(hub.figures().merges);
  const double busy =
      merges * measured.merge_seconds + static_cast<double>(collects) * measured.cycle_seconds;
  fmt::print(
      "{} simulated shards, one hour: {} files written, {:.1f} GiB of snapshots, {} questions, {} "
      "reductions of {} signatures; {:.0f} merges: {:.0f} s of the hub\n",
      shards, share.messages, merges * measured.snapshot_bytes / (1024.0 * 1024 * 1024), asked,
      reductions, share.reduced.size(), merges, busy);
}

int run(int shards, int findings, int simulated) {
  const Measured measured = measure_hub(shards, findings);
  for (const int n : {simulated / 100, simulated / 10, simulated})
    simulate(std::max(n, 1), measured);
  constexpr double kHour = 3600, kPublish = 120, kCollect = 10;
  fmt::print("the hub is busy all the time from {:.0f} shards on, with a snapshot every {} s\n",
             (kHour - kHour / kCollect * measured.cycle_seconds) /
                 (kHour / kPublish * measured.merge_seconds),
             kPublish);
  return 0;
}

}  // namespace
}  // namespace redzone::fleet

int main(int argc, char** argv) {
  const auto number = [&](int i, int otherwise) {
    return argc > i ? std::atoi(argv[i]) : otherwise;
  };
  return redzone::fleet::run(number(1, 100), number(2, 10000), number(3, 1000));
}
