#include "bench/workload.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <stdexcept>

#include "core/device_traits.h"
#include "generators/plan_generator.h"

namespace redzone::bench {
namespace {

constexpr std::uint64_t kPlanSeed = 1;

struct Range {
  std::int64_t min, max;
};

// Describes the plans of a workload. The generating spec is narrowed to this shape; the plans are
// valid under the whole spec.
struct Shape {
  std::string_view name;
  const char* what;
  std::map<std::string, Range, std::less<>> dims = {};
  // Knobs not listed here take any value
  std::map<std::string, std::vector<Value>, std::less<>> knobs = {};
  bool contiguous = false;  // if false: any layout
  generators::Budget budget = {};
  std::size_t plans = 0, quick_plans = 0;  // number of plans of each target
  bool of_packages = false;                // if false: the targets with these dims
};

// Few variants of each kernel, because each is compiled once: RDIM is 32, N is not a constant.
Shape tiny() {
  Shape s{.name = "tiny",
          .what = "B*H <= 4, T <= 64, D and DV <= 32, any layout, mostly up to 14 calls a plan",
          .dims = {{"B", {1, 2}},
                   {"H", {1, 2}},
                   {"T", {1, 64}},
                   {"C", {1, 16}},
                   {"D", {17, 32}},
                   {"DV", {1, 32}}},
          .knobs = {{"num_warps", {std::int64_t{4}}},
                    {"block_v", {std::int64_t{32}}},
                    {"specialize_n", {std::int64_t{0}}}},
          .plans = 16,
          .quick_plans = 4};
  s.budget = generators::host_budget();
  s.budget.large_share = 0;
  s.budget.big_offsets = false;
  return s;
}

// Every dim is fixed, so the budget of a plan only determines the number of calls.
generators::Budget calls_only(std::int64_t most) {
  generators::Budget budget;
  budget.work_per_plan = 1e18;
  budget.bytes_per_plan = std::int64_t{1} << 60;
  budget.max_calls = most;
  return budget;
}

Shape medium() {
  return {.name = "medium",
          .what = "B*H = 4, T = 256, C = 64, D = DV = 32, any layout, up to 4 calls a plan",
          .dims = {{"B", {1, 1}},
                   {"H", {4, 4}},
                   {"T", {256, 256}},
                   {"C", {64, 64}},
                   {"D", {32, 32}},
                   {"DV", {32, 32}}},
          .knobs = {{"num_warps", {std::int64_t{4}}}, {"block_v", {std::int64_t{32}}}},
          .budget = calls_only(4),
          .plans = 2,
          .quick_plans = 1};
}

// Contiguous and of one element type: then the regions that a worker keeps between trials have few
// sizes and stay within the limit of the CUDA device for one worker (1/16 of the memory).
Shape model() {
  return {.name = "model",
          .what = "B*H = 128, T = 8192, C = 64, D = DV = 128, bf16, up to 3 calls a plan",
          .dims = {{"B", {8, 8}},
                   {"H", {16, 16}},
                   {"T", {8192, 8192}},
                   {"C", {64, 64}},
                   {"D", {128, 128}},
                   {"DV", {128, 128}}},
          .knobs = {{"dtype", {"bf16"}},
                    {"num_warps", {std::int64_t{4}, std::int64_t{8}}},
                    {"block_v", {std::int64_t{64}}},
                    {"specialize_n", {std::int64_t{0}}}},
          .contiguous = true,
          .budget = calls_only(3),
          .plans = 3,
          .quick_plans = 1};
}

// At least one query and one key: a call without a query launches nothing, and with few allowed
// operations most calls would have none.
Shape ragged() {
  Shape s{
      .name = kRaggedWorkload,
      .what = "B <= 4, 1 to 256 queries and keys, D = 64, any layout, mostly up to 14 calls",
      .dims = {{"B", {1, 4}}, {"TQ", {1, 256}}, {"TK", {1, 256}}, {"HQ", {1, 8}}, {"D", {64, 64}}},
      .knobs = {{"verify", {std::int64_t{0}}}},
      .plans = 32,
      .quick_plans = 8};
  s.budget = generators::host_budget();
  s.budget.large_share = 0;
  s.budget.big_offsets = false;
  return s;
}

Shape packages() {
  Shape s{.name = kPackages,
          .what = "the targets of packages, small shapes, mostly up to 14 calls a plan",
          .plans = 16,
          .quick_plans = 4,
          .of_packages = true};
  s.budget = generators::host_budget();
  s.budget.large_share = 0;
  s.budget.big_offsets = false;
  return s;
}

Result<Shape> shape_named(std::string_view name) {
  for (auto make : {tiny, medium, model, packages, ragged})
    if (Shape s = make(); s.name == name) return s;
  return usage_error(
      fmt::format("unknown workload '{}': tiny, medium, model, packages, ragged", name));
}

bool is_part_of(const TargetEntry& entry, const Shape& shape) {
  if (entry.spec.category != Category::kernel || entry.is_lazy) return false;
  if (entry.is_package() || shape.of_packages) return entry.is_package() == shape.of_packages;
  const TargetSpec& spec = entry.spec;
  return std::all_of(shape.dims.begin(), shape.dims.end(), [&](const auto& wanted) {
    return std::any_of(spec.dims.begin(), spec.dims.end(),
                       [&](const DimSpec& d) { return d.name == wanted.first; });
  });
}

TargetSpec narrowed(TargetSpec spec, const Shape& shape) {
  for (auto& dim : spec.dims) {
    const auto it = shape.dims.find(dim.name);
    if (it == shape.dims.end()) continue;
    dim.min = std::max(dim.min, it->second.min);
    dim.max = std::min(dim.max, it->second.max);
    std::erase_if(dim.values, [&](std::int64_t v) { return v < dim.min || v > dim.max; });
  }
  for (auto& knob : spec.knobs) {
    const auto it = shape.knobs.find(knob.name);
    if (it == shape.knobs.end()) continue;
    std::erase_if(knob.values, [&](const Value& v) {
      return std::find(it->second.begin(), it->second.end(), v) == it->second.end();
    });
  }
  if (shape.contiguous)
    for (auto& tensor : spec.tensors) tensor.layouts = LayoutRules::contiguous();
  return spec;
}

}  // namespace

bool has_packages(const Registry& registry, DeviceKind device) {
  const auto all = registry.entries();
  return std::any_of(all.begin(), all.end(), [&](const TargetEntry& entry) {
    return entry.device == device && is_part_of(entry, packages());
  });
}

std::vector<std::string_view> workload_names(DeviceKind device) {
  return {"tiny", traits_of(device).execution.on_host_cores ? "medium" : "model"};
}

Result<Workload> make_workload(std::string_view name, DeviceKind device, const Registry& registry,
                               bool quick) {
  RZ_TRY_ASSIGN(const auto shape, shape_named(name));
  std::vector<generators::PlanGenerator> sources;
  for (const auto& entry : registry.entries()) {
    if (entry.device != device || !is_part_of(entry, shape)) continue;
    try {
      sources.emplace_back(narrowed(entry.spec, shape), shape.budget, kPlanSeed);
      // The spec has changed since this workload was defined
    } catch (const std::invalid_argument& e) {
      return harness_error(fmt::format("workload '{}': {}", name, e.what()));
    }
  }
  if (sources.empty())
    return harness_error(
        fmt::format("no target for the workload '{}' on {}", name, name_of(device)));

  Workload out{std::string(name), shape.what, {}, 0};
  const auto begun = std::chrono::steady_clock::now();
  // Targets take turns, so that the beginning of the list is as mixed as the whole.
  for (std::size_t i = 0; i < (quick ? shape.quick_plans : shape.plans); ++i)
    for (auto& source : sources) out.plans.push_back(source.next());
  const std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - begun;
  out.generate_us = spent.count() / static_cast<double>(out.plans.size());
  return out;
}

std::string hash_of(const Workload& workload) {
  std::string hashes;
  for (const auto& plan : workload.plans) hashes += plan_hash(plan);
  const XXH128_hash_t h = XXH3_128bits(hashes.data(), hashes.size());
  return fmt::format("{:016x}{:016x}", h.high64, h.low64);
}

Plan with_other_data(Plan plan, std::uint64_t pass) {
  for (auto& step : plan.steps)
    if (auto* call = std::get_if<CallStep>(&step))
      call->call.seed = (call->call.seed + (pass << 32)) & (~0ull >> 1);
  return plan;
}

std::uint64_t calls_in(const Plan& plan, const TrialSpec& trial) {
  if (trial.order.empty()) return static_cast<std::uint64_t>(call_count(plan));
  return trial.order.size();
}

}  // namespace redzone::bench
