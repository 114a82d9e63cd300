// Runs a workload under the screen, as in a campaign: worker processes run it and this process
// judges it. Each time a plan runs, its calls have other data.
#pragma once

#include <chrono>

#include "bench/report.h"
#include "bench/workload.h"
#include "exec/pool.h"

namespace redzone::bench {

class PooledLoop {
 public:
  // All arguments except the options must outlive the loop. Workers are not recycled, because the
  // steady state is measured.
  PooledLoop(exec::PoolOptions options, const Workload& workload, DeviceKind device,
             const Registry& registry, const Oracle& screen, std::chrono::milliseconds deadline);

  // Lets every worker run every plan until a whole pass maps no memory, or `limit` has passed. A
  // harness error if a worker is missing.
  Result<void> warm_up(std::chrono::milliseconds limit);
  // Runs the whole list repeatedly for at least `time`, up to the end of the list; with `cut` only
  // until `time` has passed. A harness error if a plan does not pass the screen.
  Result<Tally> run(std::chrono::milliseconds time, bool cut = false);

  // Sets whether outputs are compared with the targets' references, which costs CPU time.
  void set_reference(bool reference) { reference_ = reference; }
  std::size_t workers() const { return workers_; }

 private:
  struct Item {
    const Plan* plan = nullptr;
    const TargetSpec* spec = nullptr;
    std::vector<TrialSpec> trials;
  };

  void submit(std::size_t index);
  // Takes the next result, judges it and adds it to the tally.
  Result<exec::JobResult> take(Tally& tally);

  const Oracle& screen_;
  std::chrono::milliseconds deadline_;
  std::vector<Item> items_;
  std::size_t workers_;
  bool reference_ = true;
  std::uint64_t submitted_ = 0;  // number of submitted jobs
  exec::Pool pool_;
};

}  // namespace redzone::bench
