#include "bench/python_calls.h"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <span>

#include "bench/fault_cost.h"
#include "bench/throughput.h"
#include "core/temporary_folder.h"
#include "core/write_file.h"
#include "generators/plan_generator.h"
#include "python/interpreter.h"

namespace redzone::bench {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kPlanSeed = 1;

Json json_of(const CallStep& step) {
  Json values = Json::object();
  for (const auto& [name, value] : step.call.dims) values[name] = value;
  for (const auto& [name, value] : step.call.config)
    std::visit([&slot = values[name]](const auto& v) { slot = v; }, value);
  return values;
}

// The command of the bare process: the interpreter of a worker's command, with its flags, and
// another module. The words before the interpreter belong to the proxy and are dropped.
exec::WorkerCommand command_of_calls(exec::WorkerCommand worker,
                                     const std::filesystem::path& calls) {
  const auto before = python::worker_words("").size();
  std::vector<std::string> words{worker.argv.at(1), "-m", "redzone.bare", "--workload",
                                 calls.string()};
  const auto flags = std::span(worker.argv).subspan(before);
  words.insert(words.end(), flags.begin(), flags.end());
  worker.argv = std::move(words);
  return worker;
}

Result<Throughput> measure_target(Setup setup, const TargetSpec& spec) {
  RZ_TRY_ASSIGN(const auto folder, TemporaryFolder::create("calls"));
  const auto calls = folder.path() / "calls.json";
  const Workload workload = python_workload(spec, setup.effort.python_plans);
  if (const auto written = write_file(calls, calls_json(workload)); !written)
    return harness_error(written.error().message);
  setup.bare_command = [&](std::string_view) {
    return command_of_calls(setup.pool.command, calls);
  };
  return measure_python_throughput(setup, workload);
}

}  // namespace

Workload python_workload(const TargetSpec& spec, std::size_t plans) {
  auto budget = generators::host_budget();
  budget.large_share = 0;
  budget.big_offsets = false;
  generators::PlanGenerator source(spec, budget, kPlanSeed);
  Workload out{.name = spec.name, .what = spec.doc, .plans = {}};
  const auto begun = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < plans; ++i) out.plans.push_back(source.next());
  const std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - begun;
  out.generate_us = spent.count() / static_cast<double>(plans);
  return out;
}

std::string calls_json(const Workload& workload) {
  Json plans = Json::array();
  for (const Plan& plan : workload.plans) {
    Json calls = Json::array();
    for (const CallStep* step : calls_of(plan))
      for (std::int64_t i = 0; i < step->repeat; ++i) calls.push_back(json_of(*step));
    plans.push_back(std::move(calls));
  }
  return Json{{"target", workload.name}, {"plans", plans}, {"hash", hash_of(workload)}}.dump();
}

Result<PythonCalls> measure_python_calls(const Setup& setup) {
  PythonCalls out;
  std::optional<Plan> harmless;
  for (const auto& entry : setup.registry.entries()) {
    if (entry.device != setup.device) continue;
    out.made_by = entry.compiled_by;
    if (entry.spec.category != Category::kernel || setup.stop()) continue;
    if (!harmless) harmless = python_workload(entry.spec, 1).plans.front();
    RZ_TRY_ASSIGN(auto measured, measure_target(setup, entry.spec));
    out.targets.push_back(std::move(measured));
  }
  if (harmless && !setup.stop()) out.fault_cost = measure_fault_cost(setup, harmless);
  return out;
}

}  // namespace redzone::bench
