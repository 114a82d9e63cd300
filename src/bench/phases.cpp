#include "bench/phases.h"

#include <fmt/format.h>

#include <sstream>

#include "bench/bare_loop.h"
#include "bench/timed_device.h"
#include "campaign/reference_budget.h"
#include "core/device_traits.h"
#include "trial/trial_runner.h"

namespace redzone::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Kind {
  std::string_view column;
  Mix mix;
  bool checks;
  bool reference;
};
constexpr Kind kKinds[] = {{kBare, Mix::async, false, false},
                           {kBareScreen, Mix::screen, false, false},
                           {kScreenNoReference, Mix::screen, true, false},
                           {kScreen, Mix::screen, true, true}};

std::vector<TrialSpec> trials_of(const Kind& kind, const Plan& plan, const TargetSpec& spec,
                                 const Oracle& screen, DeviceKind device) {
  if (!kind.checks) return bare_trials(plan, spec, screen, kind.mix);
  auto trials = screen.expand(plan, spec);
  for (auto& trial : trials) trial.reference = trial.reference && kind.reference;
  if (!traits_of(device).execution.on_host_cores)
    campaign::leave_out_large_calls(plan, spec, trials);
  return trials;
}

}  // namespace

Result<std::vector<PhaseColumn>> measure_phases(device::Device& device, const Registry& registry,
                                                const Workload& workload, const Oracle& screen,
                                                std::chrono::milliseconds time) {
  TimedDevice timed(device);
  std::vector<PhaseColumn> columns;
  std::uint64_t runs = 0;  // runs of plans
  for (const Kind& kind : kKinds) {
    auto limits = trial::limits_for(device.info());
    limits.checks = kind.checks;
    trial::TrialRunner runner(timed, registry, device.info().kind, nullptr, limits);
    PhaseColumn column{.column = std::string(kind.column)};
    const auto pass = [&]() -> Result<void> {
      for (const Plan& plan : workload.plans) {
        const TargetEntry* entry = registry.find(plan.target, device.info().kind);
        RZ_CHECK(entry != nullptr);
        const Plan now = with_other_data(plan, runs++);
        for (const auto& trial : trials_of(kind, now, entry->spec, screen, device.info().kind)) {
          const Observation o = runner.run(now, trial);
          if (o.end != End::completed)
            return harness_error(fmt::format("a plan of {} ended in {}: {}", plan.target,
                                             name_of(o.end), o.fault ? o.fault->code : o.message));
          ++column.trials;
          column.calls += calls_in(now, trial);
          column.seconds += static_cast<double>(o.wall_us) * 1e-6;
        }
      }
      return {};
    };
    RZ_TRY(pass());
    column = {.column = std::string(kind.column)};
    timed.clear();
    const auto begun = Clock::now();
    do RZ_TRY(pass());
    while (Clock::now() - begun < time);
    for (std::size_t i = 0; i < kDevicePhases.size(); ++i) {
      const PhaseTime& phase = timed.times()[i];
      column.phases.push_back({std::string(kDevicePhases[i]), phase.us, phase.times});
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

std::string phases_line(const std::vector<PhaseColumn>& columns) {
  std::string line = fmt::format("ok {}", columns.size());
  for (const PhaseColumn& c : columns) {
    line += fmt::format(" {} {} {} {} {}", c.column, c.trials, c.calls, c.seconds, c.phases.size());
    for (const auto& p : c.phases) line += fmt::format(" {} {} {}", p.name, p.us, p.times);
  }
  return line;
}

Result<std::vector<PhaseColumn>> parse_phases(const std::string& line) {
  if (line.starts_with("error ")) return harness_error(line.substr(6));
  constexpr std::size_t kMost = 64;  // maximum number of columns, and of phases
  std::istringstream words(line);
  std::string ok;
  std::size_t count = 0;
  words >> ok >> count;
  bool sound = words && ok == "ok" && count <= kMost;
  std::vector<PhaseColumn> columns(sound ? count : 0);
  for (PhaseColumn& c : columns) {
    std::size_t phases = 0;
    words >> c.column >> c.trials >> c.calls >> c.seconds >> phases;
    sound = sound && words && phases <= kMost;
    c.phases.resize(sound ? phases : 0);
    for (Phase& p : c.phases) words >> p.name >> p.us >> p.times;
  }
  if (!words || !sound) return harness_error("the bare loop reported: " + line);
  return columns;
}

}  // namespace redzone::bench
