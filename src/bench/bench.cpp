#include "bench/bench.h"

#include <stdlib.h>

#include <thread>

#include "bench/detection.h"
#include "bench/fault_cost.h"
#include "bench/launcher_table.h"
#include "bench/mode_table.h"
#include "bench/throughput.h"
#include "bench/tma.h"
#include "bench/workload.h"
#include "core/device_traits.h"

namespace redzone::bench {
namespace {

std::vector<std::string_view> workloads(const Setup& setup) {
  auto names = workload_names(setup.device);
  if (has_packages(setup.registry, setup.device)) names.push_back(kPackages);
  return names;
}

Result<void> measure_parts(const Setup& setup, Report& report) {
  const auto wanted = [&](Part part) { return setup.effort.parts.contains(part) && !setup.stop(); };
  if (wanted(Part::throughput))
    for (const auto name : workloads(setup)) {
      if (setup.stop()) break;
      RZ_TRY_ASSIGN(auto measured, measure_throughput(setup, name));
      report.throughput.push_back(std::move(measured));
    }
  if (wanted(Part::detection)) RZ_TRY(measure_all_detection(setup, report.detection));
  if (wanted(Part::faults)) report.fault_cost = measure_fault_cost(setup);
  if (wanted(Part::modes)) RZ_TRY(measure_modes(setup, report));
  if (wanted(Part::launcher)) RZ_TRY(measure_launchers(setup, report));
  if (wanted(Part::tma)) RZ_TRY(measure_tma(setup, report));
  if (wanted(Part::minute)) {
    RZ_TRY_ASSIGN(report.minute, setup.minute());
  }
  if (wanted(Part::python)) {
    RZ_TRY_ASSIGN(report.python, setup.python());
  }
  if (wanted(Part::guard)) {
    RZ_TRY_ASSIGN(report.guard, setup.guard());
  }
  return {};
}

}  // namespace

Result<void> run_benchmark(const Setup& setup, Report& report) {
  const auto begun = std::chrono::steady_clock::now();
  report.kind = name_of(setup.device);
  report.quick = setup.effort.quick;
  report.cores = std::thread::hardware_concurrency();
  ::getloadavg(&report.load_average, 1);
  auto measured = measure_parts(setup, report);
  // An interruption may end a part with an error; the earlier measurements are still valid.
  if (!measured && !setup.stop()) return measured;
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return {};
}

}  // namespace redzone::bench
