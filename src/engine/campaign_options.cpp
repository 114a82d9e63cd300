#include "engine/campaign_options.h"

#include <algorithm>

namespace redzone::engine {

campaign::CampaignOptions campaign_options(const Engine& engine, std::chrono::milliseconds time,
                                           std::uint64_t plans_per_target) {
  campaign::CampaignOptions options;
  options.time = time;
  options.plans_per_target = plans_per_target;
  options.deadline = engine.deadline();
  const DeviceTraits& device = engine.site().traits();
  options.worker_cost = device.workers.start;
  // On a device that is separate from the cores, one worker at a time keeps the device busy.
  options.screen_leaves_room = !device.execution.on_host_cores;
  options.hang_names_call = device.execution.fault_names_call;
  options.triage = engine.triage_options();
  options.preparer = engine.compilers();
  options.spec_calls = engine.site().registry().spec_calls();
  // A short campaign should show several findings rather than one minimal one. The campaign divides
  // this time between the findings that share it.
  if (options.time.count() > 0)
    options.triage.reduce_time =
        std::min(options.triage.reduce_time,
                 std::max<std::chrono::milliseconds>(options.time / 4, std::chrono::seconds(2)));
  options.stop = [&engine] { return engine.interrupted(); };
  return options;
}

}  // namespace redzone::engine
