#include "fleet/compare.h"

#include <algorithm>
#include <map>
#include <string>

#include "statistics/sequential_test.h"
#include "store/device_runs.h"

namespace redzone::fleet {
namespace {

constexpr double kMiss = 0.01;

using Runs = std::map<std::string, Reliability>;  // by device

void judge(report::FleetComparison& comparison, const Runs& runs) {
  // The device with the highest failure rate.
  const auto worst = std::max_element(runs.begin(), runs.end(), [](const auto& a, const auto& b) {
    return a.second.k * std::max<std::int64_t>(b.second.n, 1) <
           b.second.k * std::max<std::int64_t>(a.second.n, 1);
  });
  const Reliability most = worst->second;
  for (const auto& [device, failed] : runs) {
    report::FleetComparison::Device here{.device = device, .failed = failed.k, .runs = failed.n};
    here.says = failed.k > 0 ? "fails" : "undecided";
    if (most.k > 0 && failed.k == 0) {
      const statistics::SequentialTest test(statistics::rates_for(most.k, most.n, kMiss), failed.k,
                                            failed.n);
      if (test.decision() == statistics::Decision::passes) here.says = "passes";
      comparison.differs = comparison.differs || here.says == "passes";
    }
    comparison.devices.push_back(std::move(here));
  }
}

}  // namespace

Result<std::vector<report::FleetComparison>> compare_devices(store::Store& hub) {
  RZ_TRY_ASSIGN(const auto findings, hub.findings());
  RZ_TRY_ASSIGN(const auto probed, store::device_runs(hub));
  std::map<std::int64_t, Runs> runs;
  for (const auto& p : probed) runs[p.finding][p.device] = p.failed;
  std::vector<report::FleetComparison> all;
  for (const auto& finding : findings) {
    if (!was_found(finding.state)) continue;
    Runs& here = runs[finding.id];
    // The measurement of the finding counts for its own device, whether or not a bisection also ran
    // there.
    Reliability& found_in = here[finding.environment.device];
    found_in.k += finding.reliability.k;
    found_in.n += finding.reliability.n;
    if (here.size() < 2) continue;
    report::FleetComparison comparison{.finding = finding.id,
                                       .signature = finding.signature.text(),
                                       .found_on = finding.environment.device};
    judge(comparison, here);
    all.push_back(std::move(comparison));
  }
  std::stable_partition(all.begin(), all.end(), [](const auto& c) { return c.differs; });
  return all;
}

}  // namespace redzone::fleet
