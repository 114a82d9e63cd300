// Measures what a fleet costs, in time of the processor: of the hub to merge the snapshots of many
// shards, and of a shard to publish and to ask, over real stores and files; then, with these, an
// hour of fleets of several sizes on a simulated clock (simulated_fleet.h). Prints the figures;
// asserts nothing about times.
//
// fleet_bench [SHARDS] [FINDINGS] [SIMULATED_SHARDS]      (100, 10000, 1000)
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <ctime>

#include "core/campaign_record.h"
#include "fleet/shared_folder.h"
#include "fleet/simulated_fleet.h"
#include "store/database.h"
#include "store/finding_table.h"
#include "store/sample.h"

namespace redzone::fleet {
namespace {

using namespace store::testing;
using namespace testing;

// Of the processor: the simulated fleets are those of nodes that do nothing else, whatever runs
// beside the benchmark. Waiting for a disk is not among it.
double busy_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}
double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
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
  FleetCosts costs;
  double snapshot_bytes = 0, hub_bytes = 0;
};

// The mean time of the processor for `act(i)`, for i in 1..`times`.
template <class Act>
double mean_seconds(int times, Act act) {
  const double begun = busy_seconds();
  for (int i = 1; i <= times; ++i) act(i);
  return (busy_seconds() - begun) / times;
}

// The findings are divided among the shards, and each has a tenth of the next one's, too.
Measured measure(int shards, int findings) {
  TempDir dir;
  const Layout layout{dir / "run"};
  const std::string uid = "0123456789abcdef0123456789abcdef";
  must(create_folder(layout, {.uid = uid, .shards = shards, .models = {{"", shards}}}));
  const int each = std::max(1, findings / shards);
  Measured measured;
  FleetCosts& costs = measured.costs;
  costs.publish = 0;
  for (int i = 1; i <= shards; ++i) {
    const Attempt attempt = must(claim_attempt(layout, i, {.host = "n"}));
    const int first = (i - 1) * each + 1;
    store::Store store =
        store_with(dir / fmt::format("{}.db", i).c_str(), first, first + each + each / 10);
    costs.publish += mean_seconds(1,
                                  [&](int) {
                                    must(publish_snapshot(layout, {attempt, 1}, store));
                                  }) /
                     shards;
    measured.snapshot_bytes +=
        static_cast<double>(std::filesystem::file_size(layout.snapshot({attempt, 1}))) / shards;
  }
  constexpr int kQuestions = 200;
  SharedInquiries inquiries(layout, {1, 1});
  costs.ask = mean_seconds(kQuestions, [&](int i) { inquiries.ask(i, fmt::format("{:016x}", i)); });
  costs.look =
      mean_seconds(kQuestions, [&](int i) { inquiries.take_answer(i, fmt::format("{:016x}", i)); });
  fmt::print(
      "a shard: publishing {:.3f} s for {:.0f} KiB, a question {:.6f} s, a look for its "
      "answer {:.6f} s\n",
      costs.publish, measured.snapshot_bytes / 1024, costs.ask, costs.look);

  const Attempt attempt = must(claim_attempt(layout, kHubShard, {.host = "n"}));
  auto folder = must(SharedHub::open(layout, uid, attempt, dir / "hub.db"));
  const auto snapshots = must(list_snapshots(layout));
  const double merging = wall_seconds();
  costs.merge = mean_seconds(
      shards, [&](int i) { must(folder->merge(snapshots[static_cast<std::size_t>(i) - 1])); });
  fmt::print(
      "{} shards, {} findings: all merged in {:.2f} s of the processor, {:.3f} s each; {:.2f} s "
      "by the clock\n",
      shards, must(folder->store().findings()).size(), costs.merge * shards, costs.merge,
      wall_seconds() - merging);
  const double again = mean_seconds(1, [&](int) { must(folder->merge(snapshots.front())); });
  const double reduced = mean_seconds(1, [&](int) { must(folder->reduced()); });
  const double published = mean_seconds(1, [&](int) { must(folder->publish()); });
  costs.cycle = reduced + published;
  costs.pull = mean_seconds(1, [&](int) { must(published_reductions(layout)); });
  measured.hub_bytes = static_cast<double>(std::filesystem::file_size(layout.hub_store()));
  fmt::print(
      "a snapshot that brings nothing new: {:.3f} s; signatures that are reduced: {:.3f} s; "
      "publishing: {:.3f} s for {:.0f} KiB; a shard reads them in {:.3f} s\n",
      again, reduced, published, measured.hub_bytes / 1024, costs.pull);
  return measured;
}

// An hour of a fleet, and of as many nights by themselves.
void simulate(int shards, const Measured& measured) {
  const auto plans = [&](bool fleet, double reduce) {
    FleetCosts costs = measured.costs;
    costs.reduce = reduce;
    return SimulatedFleet({.shards = fleet ? shards : 1, .fleet = fleet}, costs).run();
  };
  constexpr double kReduce = 30, kGiB = 1024.0 * 1024 * 1024;
  const auto bare = plans(true, 0), alone = plans(false, 0);
  const auto whole = plans(true, kReduce), whole_alone = plans(false, kReduce);
  const auto linear = [shards](const SimulatedFigures& fleet, const SimulatedFigures& one) {
    return fleet.plans / (one.plans * shards);
  };
  fmt::print(
      "{:6} {:8.3f} {:8.3f} {:8} {:9} {:7} {:9.2f} {:9.2f} {:10} {:11} {:10} {:7.0f} {:9.1f} "
      "{:10.0f}\n",
      shards, linear(bare, alone), linear(whole, whole_alone), whole.files, whole.looks,
      whole.pulls, static_cast<double>(whole.pulls) * measured.hub_bytes / kGiB,
      static_cast<double>(whole.merges) * measured.snapshot_bytes / kGiB, whole.questions,
      whole.reductions, whole.reduced, whole.hub_seconds, whole.longest_wait,
      whole.longest_unmerged);
}

int run(int shards, int findings, int simulated) {
  const Measured measured = measure(shards, findings);
  const SimulatedNight night;
  fmt::print(
      "\nAn hour of simulated fleets: a snapshot every {} s and for each change of the findings; "
      "each shard makes\n{} plans a second and meets {} of {} signatures. linear: plans of the "
      "fleet "
      "by those of as many nights by\nthemselves, where a reduction takes no time, and where it "
      "takes "
      "30 s. pulled, snapshots: GiB.\n{:>6} {:>8} {:>8} {:>8} {:>9} {:>7} {:>9} {:>9} {:>10} "
      "{:>11} {:>10} {:>7} {:>9} {:>10}\n",
      night.snapshot_seconds, night.plans_per_second, night.met, night.signatures, "shards",
      "linear", "(30 s)", "files", "looks", "pulls", "pulled", "snapshots", "questions",
      "reductions", "signatures", "hub s", "wait s", "unmerged s");
  for (const int n : {1, 8, simulated / 10, simulated / 4, simulated / 2, simulated, 2 * simulated})
    simulate(std::max(n, 1), measured);
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
