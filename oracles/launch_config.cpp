#include "oracles/launch_config.h"

#include <fmt/format.h>

#include "oracles/checks.h"

namespace redzone::oracles {
namespace {

// Describes the problem of a launch, or returns "". `side` receives the part for the signature.
std::string launch_problem(const LaunchDecl& d, const LaunchLimits& limits, std::string& side) {
  constexpr const char* kAxis[3] = {"x", "y", "z"};
  std::int64_t threads = 1;
  for (int i = 0; i < 3; ++i) {
    if (d.grid[i] < 1 || d.grid[i] > limits.grid[i]) {
      side = "grid";
      return fmt::format("grid.{} is {}, must be in 1..{}", kAxis[i], d.grid[i], limits.grid[i]);
    }
    if (d.block[i] < 1 || d.block[i] > limits.block[i]) {
      side = "block";
      return fmt::format("block.{} is {}, must be in 1..{}", kAxis[i], d.block[i], limits.block[i]);
    }
    threads *= d.block[i];
  }
  if (threads > limits.threads_per_block) {
    side = "block";
    return fmt::format("a block has {} threads, at most {}", threads, limits.threads_per_block);
  }
  if (d.shared_bytes < 0 || d.shared_bytes > limits.shared_bytes) {
    side = "shared";
    return fmt::format("shared memory is {} bytes, at most {}", d.shared_bytes,
                       limits.shared_bytes);
  }
  return "";
}

bool overflows(const IndexProduct& p) {
  __int128 product = 1;
  const int value_bits = p.is_signed ? p.bits - 1 : p.bits;
  const __int128 limit = (static_cast<__int128>(1) << value_bits) - 1;
  for (auto factor : p.factors) {
    product *= factor;
    if (product > limit || product < -limit - 1) return true;
    if (!p.is_signed && product < 0) return true;
  }
  return false;
}

}  // namespace

std::vector<TrialSpec> LaunchConfigOracle::expand(const Plan&, const TargetSpec&) const {
  return {};
}

Verdict LaunchConfigOracle::judge(const Plan& plan, const TargetSpec& spec,
                                  std::span<const Observation>) const {
  if (!spec.geometry)
    return {
        Outcome::not_applicable, std::string(name()), "the target declares no launches", {}, -1};
  Signature s;
  s.kind = FailKind::launch_config;
  s.target = plan.target;
  std::int32_t index = 0;
  for (const auto* step : calls_of(plan)) {
    const Geometry geometry = spec.geometry(step->call.dims, step->call.config);
    for (const auto& launch : geometry.launches) {
      const std::string problem = launch_problem(launch, limits_, s.side);
      if (problem.empty()) continue;
      s.where = launch.kernel;
      return fail(name(), s, index,
                  fmt::format("launch of {} in {}: {}", launch.kernel, describe_call(plan, index),
                              problem));
    }
    for (const auto& product : geometry.products) {
      if (!overflows(product)) continue;
      s.where = product.what;
      s.side = "product";
      return fail(
          name(), s, index,
          fmt::format("{} = {} in {} does not fit {} bits", product.what,
                      fmt::join(product.factors, " * "), describe_call(plan, index), product.bits));
    }
    ++index;
  }
  return Verdict::pass(std::string(name()));
}

}  // namespace redzone::oracles
