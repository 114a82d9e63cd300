#include "bench/guard_programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/device_traits.h"
#include "python/interpreter.h"

namespace redzone::bench {
namespace {

constexpr const char* kLaunches = "launches";
constexpr const char* kPluggable = "pluggable";  // PyTorch's name for it

struct Shipped {
  const char *name, *file, *what;
};

constexpr Shipped kPrograms[] = {
    {"training", "training_step.py", "a training step of a transformer layer, forward to AdamW"},
    {"inference", "inference.py", "a transformer layer by torch.compile, without gradients"},
    {kLaunches, "guard_launches",
     "CUDA C++: 100,000 times cudaMallocAsync, a kernel, cudaFreeAsync"},
    {"softmax", "softmax.py", "a Triton kernel: softmax of rows"},
    {"matmul", "matmul.py", "a Triton kernel: a product of matrices in tiles"},
    {"layer_norm", "layer_norm.py", "Triton kernels: layer norm, forward and backward"},
};

GuardProgram program_of(const Shipped& shipped, const Result<std::string>& python) {
  GuardProgram out{.name = shipped.name, .what = shipped.what, .command = {}};
  const auto file = python::library_folder() / "bench_guard" / shipped.file;
  out.has_framework = file.extension() == ".py";
  std::error_code error;
  if (!std::filesystem::exists(file, error))
    out.why_not = fmt::format("{} is missing: it is built where nvcc is", file.string());
  else if (out.has_framework && !python)
    out.why_not = python.error().message;
  else if (out.has_framework)
    out.command.push_back(*python);
  out.command.push_back(file.string());
  return out;
}

}  // namespace

Result<std::vector<GuardProgram>> guard_programs(const std::vector<std::string>& wanted,
                                                 const Result<std::string>& python) {
  std::vector<GuardProgram> out;
  std::vector<std::string> names;
  for (const Shipped& shipped : kPrograms) names.emplace_back(shipped.name);
  for (const std::string& name : wanted)
    if (std::find(names.begin(), names.end(), name) == names.end())
      return usage_error(fmt::format("--program {}: must be {}", name, fmt::join(names, ", ")));
  for (const Shipped& shipped : kPrograms)
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), shipped.name) != wanted.end())
      out.push_back(program_of(shipped, python));
  return out;
}

std::vector<GuardWay> guard_ways(const std::string& redzone,
                                 const std::vector<std::string>& memcheck_prefix,
                                 const std::string& why_no_memcheck) {
  const auto guard = [&](std::vector<std::string> more) {
    std::vector<std::string> out{redzone, "guard", "--no-store", "--framework", "auto"};
    out.insert(out.end(), more.begin(), more.end());
    out.emplace_back("--");
    return out;
  };
  return {{{std::string(kPlain), "the program alone, with PyTorch's caching allocator"}, {}},
          {{std::string(kUncached), "with PYTORCH_NO_CUDA_MEMORY_CACHING=1"},
           {"env", "PYTORCH_NO_CUDA_MEMORY_CACHING=1"},
           true},
          {{std::string(kGuardBare), "guard --framework auto --bare: guard pages alone"},
           guard({"--bare"}),
           false,
           {},
           kPluggable},
          {{std::string(kGuardFull),
            "guard --framework auto: guard pages, poison, canaries, a sample of freed blocks "
            "unmapped"},
           guard({}),
           false,
           {},
           kPluggable},
          {{std::string(kMemcheck), "compute-sanitizer memcheck, with PyTorch's caching allocator"},
           memcheck_prefix,
           false,
           why_no_memcheck}};
}

Result<GuardCost> earlier_cost(const std::string& earlier, const Report& report,
                               const std::vector<GuardWay>& ways) {
  RZ_TRY_ASSIGN(auto cost, guard_cost_of(earlier));
  const auto json =
      nlohmann::json::parse(earlier);  // guard_cost_of() has parsed it, so it is valid
  const auto differs = [&](const char* key, const nlohmann::json& ours) {
    return !json.contains(key) || json[key] != ours;
  };
  if (report.commit == kUnknownCommit)
    return usage_error("--resume: the commit of this build must be known (--commit)");
  if (differs("commit", report.commit) || differs("device", report.environment.device) ||
      differs("driver", report.environment.driver) || differs("quick", report.quick))
    return usage_error("--resume: the result is of another commit, machine or --quick");
  const bool same = std::equal(
      cost.columns.begin(), cost.columns.end(), ways.begin(), ways.end(),
      [](const auto& column, const auto& way) { return column.name == way.column.name; });
  if (!same) return usage_error("--resume: the result has other columns");
  return cost;
}

Result<GuardCost> measure_guard(const RunOptions& options, const Setup& setup,
                                const Report& report) {
  if (traits_of(setup.device).execution.on_host_cores)
    return GuardCost{.why_not = "the programs need a GPU"};
  const auto python = python::find_interpreter(options.engine.python).map([](const auto& found) {
    return found.path.string();
  });
  GuardRuns runs;
  RZ_TRY_ASSIGN(runs.programs, guard_programs(options.programs, python));
  runs.ways = guard_ways("/proc/self/exe", setup.memcheck_prefix, setup.why_no_memcheck);
  runs.runs = setup.effort.guard_runs;
  runs.run = [&](const std::vector<std::string>& words) {
    return run_limited(words, setup.effort.guard_run, setup.stop);
  };
  runs.stop = setup.stop;
  runs.say = setup.say;
  runs.keep = [&](const GuardCost& cost) {
    Report so_far = report;
    so_far.guard = cost;
    so_far.interrupted = true;
    options.keep(so_far);
  };
  GuardCost cost;
  if (!options.earlier.empty()) {
    RZ_TRY_ASSIGN(cost, earlier_cost(options.earlier, report, runs.ways));
  }
  measure_guard_cost(runs, cost);
  return cost;
}

}  // namespace redzone::bench
