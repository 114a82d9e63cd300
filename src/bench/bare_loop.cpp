#include "bench/bare_loop.h"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <csignal>
#include <sstream>

#include "bench/phases.h"
#include "trial/trial_runner.h"

namespace redzone::bench {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::string_view kMixNames[] = {"async", "screen", "launches"};
constexpr std::string_view kPhases = "phases ";

void nothing() {}

// A kernel that does nothing, for launches of one thread.
device::Status<KernelRef> nothing_kernel(device::Device& device) {
  return device.variant({.name = "nothing",
                         .source = "template <int> __global__ void nothing() {}",
                         .expression = "nothing<0>",
                         .host = kernel_ref("nothing", nothing)});
}

Result<void> as_error(const device::Status<void>& status) {
  if (status) return {};
  return harness_error(fmt::format("{}: {}", status.error().code, status.error().detail));
}

class Loop {
 public:
  Loop(device::Device& device, const Registry& registry, const Workload& workload,
       const Oracle& screen)
      : device_(device),
        registry_(registry),
        runner_(device, registry, device.info().kind, nullptr, limits(device.info())) {
    for (auto mix : {Mix::async, Mix::screen, Mix::launches})
      for (const auto& plan : workload.plans) {
        const TargetEntry* entry = registry.find(plan.target, device.info().kind);
        RZ_CHECK(entry != nullptr);
        items_[static_cast<std::size_t>(mix)].push_back(
            {with_other_data(plan), bare_trials(plan, entry->spec, screen, mix)});
      }
  }

  // The calls have other data in each pass, as in the columns of the screen.
  Result<Tally> run(Mix mix, milliseconds time) {
    const bool only_launches = mix == Mix::launches;
    if (only_launches) RZ_TRY(prepare_launches());
    Tally tally;
    const auto begun = Clock::now();
    const auto& items = items_[static_cast<std::size_t>(mix)];
    do {
      const std::size_t pass = passes_++ % kPasses;
      for (const auto& item : items)
        RZ_TRY(only_launches ? launch(item, tally) : run(item, pass, tally));
    } while (Clock::now() - begun < time);
    tally.seconds = std::chrono::duration<double>(Clock::now() - begun).count();
    return tally;
  }

 private:
  // After these, the data of the first pass are used again
  static constexpr std::size_t kPasses = 16;

  static std::vector<Plan> with_other_data(const Plan& plan) {
    std::vector<Plan> plans;
    for (std::size_t pass = 0; pass < kPasses; ++pass)
      plans.push_back(bench::with_other_data(plan, pass));
    return plans;
  }

  struct Item {
    std::vector<Plan> plans;  // one for each pass
    std::vector<TrialSpec> trials;
    std::uint64_t launches = 0;  // for Mix::launches; number counted in a trial
  };

  static trial::TrialLimits limits(const device::Info& info) {
    auto limits = trial::limits_for(info);
    limits.checks = false;
    return limits;
  }

  static Result<Observation> completed(trial::TrialRunner& runner, const Plan& plan,
                                       const TrialSpec& trial) {
    Observation o = runner.run(plan, trial);
    if (o.end == End::completed) return o;
    return harness_error(fmt::format("a plan of {} ended in {}: {}", plan.target, name_of(o.end),
                                     o.fault ? o.fault->code : o.message));
  }

  Result<void> run(const Item& item, std::size_t pass, Tally& tally) {
    const Plan& plan = item.plans[pass];
    for (const auto& trial : item.trials) {
      RZ_TRY_ASSIGN(const Observation o, completed(runner_, plan, trial));
      ++tally.trials;
      tally.calls += calls_in(plan, trial);
      tally.mapping_calls += o.mapping_calls;
    }
    ++tally.plans;
    return {};
  }

  // Finds the kernel, and counts the launches of each plan, once. Only a runner with checks records
  // launches.
  Result<void> prepare_launches() {
    if (nothing_.name[0] != 0) return {};
    auto kernel = nothing_kernel(device_);
    if (!kernel) return as_error(tl::unexpected(kernel.error()));
    trial::TrialRunner counting(device_, registry_, device_.info().kind, nullptr,
                                trial::limits_for(device_.info()));
    for (Item& item : items_[static_cast<std::size_t>(Mix::launches)]) {
      const Plan plan = with_plain_graphs(item.plans[0]);
      RZ_TRY_ASSIGN(const Observation o, completed(counting, plan, item.trials[0]));
      const auto steps = calls_of(plan);
      for (const CallObservation& call : o.calls) {
        const CallStep& step = *steps[static_cast<std::size_t>(call.call)];
        item.launches += call.launches.size() * static_cast<std::uint64_t>(step.repeat);
      }
    }
    nothing_ = *kernel;
    return {};
  }

  Result<void> launch(const Item& item, Tally& tally) {
    RZ_TRY(as_error(device_.begin_trial({})));
    for (std::uint64_t i = 0; i < item.launches; ++i)
      RZ_TRY(as_error(device_.launch(0, nothing_, {}, {})));
    RZ_TRY(as_error(device_.synchronize()));
    ++tally.trials;
    ++tally.plans;
    tally.calls += calls_in(item.plans[0], item.trials[0]);
    return {};
  }

  device::Device& device_;
  const Registry& registry_;
  trial::TrialRunner runner_;
  KernelRef nothing_;
  std::size_t passes_ = 0;
  std::vector<Item> items_[std::size(kMixNames)];
};

std::string answer_line(Loop& loop, const std::string& line) {
  std::istringstream words(line);
  std::string name;
  std::int64_t ms = 0;
  words >> name >> ms;
  for (std::size_t i = 0; i < std::size(kMixNames); ++i) {
    if (name != kMixNames[i]) continue;
    const auto tally = loop.run(static_cast<Mix>(i), milliseconds(ms));
    if (!tally) return "error " + tally.error().message;
    return fmt::format("ok {} {} {} {} {}", tally->plans, tally->trials, tally->calls,
                       tally->mapping_calls, tally->seconds);
  }
  return "error unknown mix " + name;
}

Result<Tally> parse_answer(const std::string& line) {
  if (line.starts_with("error ")) return harness_error(line.substr(6));
  std::istringstream words(line);
  std::string ok;
  Tally t;
  words >> ok >> t.plans >> t.trials >> t.calls >> t.mapping_calls >> t.seconds;
  if (!words || ok != "ok") return harness_error("the bare loop reported: " + line);
  return t;
}

}  // namespace

std::vector<TrialSpec> bare_trials(const Plan& plan, const TargetSpec& spec, const Oracle& screen,
                                   Mix mix) {
  std::vector<TrialSpec> trials;
  if (mix != Mix::screen) {
    TrialSpec trial;
    trial.mode = plan.mode;
    trial.mode.launch = Launch::async;
    trials = {trial};
  } else {
    trials = screen.expand(plan, spec);
  }
  for (auto& trial : trials) {
    trial.mode.allocator = Allocator::plain;
    trial.reference = false;
  }
  return trials;
}

int serve_bare_loop(int socket_fd, device::Device& device, const Registry& registry,
                    const Workload& workload, const Oracle& screen) {
  // Set again, because a tool may run between the benchmark and this process
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  Loop loop(device, registry, workload, screen);
  const auto answer = [&](const std::string& line) {
    if (!line.starts_with(kPhases)) return answer_line(loop, line);
    std::int64_t ms = 0;
    std::istringstream(line.substr(kPhases.size())) >> ms;
    const auto columns = measure_phases(device, registry, workload, screen, milliseconds(ms));
    return columns ? phases_line(*columns) : "error " + columns.error().message;
  };
  if (!send_line(socket_fd, "ready " + hash_of(workload))) return 0;
  for (std::string unread;;) {
    while (const auto line = take_line(unread))
      if (!send_line(socket_fd, answer(*line))) return 0;
    if (!receive(socket_fd, unread)) return 0;
  }
}

Result<BareProcess> BareProcess::start(const exec::WorkerCommand& command, const Workload& workload,
                                       milliseconds deadline) {
  RZ_TRY_ASSIGN(auto process, LineProcess::start(command));
  BareProcess bare(std::move(process));
  RZ_TRY_ASSIGN(auto line, bare.process_.read_line(deadline));
  if (line == "ready " + hash_of(workload)) return bare;
  if (line.starts_with("error ")) return harness_error(line.substr(6));
  return harness_error("the bare loop has other plans");
}

Result<Tally> BareProcess::run(Mix mix, milliseconds time, milliseconds deadline) {
  if (!process_.send(fmt::format("{} {}", kMixNames[static_cast<std::size_t>(mix)], time.count())))
    return harness_error("the bare loop is gone");
  return process_.read_line(deadline).and_then(parse_answer);
}

Result<std::vector<PhaseColumn>> BareProcess::phases(milliseconds time, milliseconds deadline) {
  if (!process_.send(fmt::format("{}{}", kPhases, time.count())))
    return harness_error("the bare loop is gone");
  return process_.read_line(deadline).and_then(parse_phases);
}

}  // namespace redzone::bench
