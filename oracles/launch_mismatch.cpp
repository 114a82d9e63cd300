#include "oracles/launch_mismatch.h"

#include <fmt/format.h>

#include <algorithm>

#include "oracles/checks.h"

namespace redzone::oracles {
namespace {

std::string text(const std::int64_t (&v)[3]) {
  return fmt::format("({}, {}, {})", v[0], v[1], v[2]);
}

// Describes how a launch differs from its declaration. `side` receives the part for the signature.
std::string launch_difference(const LaunchDecl& want, const LaunchObservation& got,
                              std::string& side) {
  if (!std::equal(want.grid, want.grid + 3, got.grid)) {
    side = "grid";
    return fmt::format("the grid is {}, declared is {}", text(got.grid), text(want.grid));
  }
  if (!std::equal(want.block, want.block + 3, got.block)) {
    side = "block";
    return fmt::format("the block is {}, declared is {}", text(got.block), text(want.block));
  }
  if (want.shared_bytes != got.shared_bytes) {
    side = "shared";
    return fmt::format("{} bytes of shared memory, declared are {}", got.shared_bytes,
                       want.shared_bytes);
  }
  return "";
}

struct Problem {
  std::string kernel, side, what;
};

std::optional<Problem> problem(const std::vector<LaunchDecl>& declared,
                               const std::vector<LaunchObservation>& made) {
  std::vector<std::string_view> judged;
  for (const auto& d : declared) {
    if (std::find(judged.begin(), judged.end(), d.kernel) != judged.end()) continue;
    judged.push_back(d.kernel);
    std::vector<const LaunchDecl*> want;
    for (const auto& x : declared)
      if (x.kernel == d.kernel) want.push_back(&x);
    std::vector<const LaunchObservation*> got;
    for (const auto& x : made)
      if (x.kernel == d.kernel) got.push_back(&x);
    if (got.size() < want.size())
      return Problem{d.kernel, "launch",
                     fmt::format("{} launches, declared are {}", got.size(), want.size())};
    const std::size_t before = got.size() - want.size();
    for (std::size_t i = 0; i < want.size(); ++i) {
      Problem p{d.kernel, "", ""};
      p.what = launch_difference(*want[i], *got[before + i], p.side);
      if (!p.what.empty()) return p;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Verdict> judge_launches(std::string_view oracle, const Plan& plan,
                                      const TargetSpec& spec, const Observation& observation) {
  if (!spec.geometry) return std::nullopt;
  const auto steps = calls_of(plan);
  for (const auto& call : observation.calls) {
    if (call.call < 0 || static_cast<std::size_t>(call.call) >= steps.size()) continue;
    const Call& made = steps[static_cast<std::size_t>(call.call)]->call;
    const auto p = problem(spec.geometry(made.dims, made.config).launches, call.launches);
    if (!p) continue;
    Signature s;
    s.kind = FailKind::launch_config;
    s.target = plan.target;
    s.where = p->kernel;
    s.side = p->side;
    return fail(
        oracle, s, call.call,
        fmt::format("launch of {} in {}: {}", p->kernel, describe_call(plan, call.call), p->what));
  }
  return std::nullopt;
}

std::vector<TrialSpec> LaunchMismatchOracle::expand(const Plan& plan, const TargetSpec&) const {
  return {{plan.mode, {}, false}};
}

Verdict LaunchMismatchOracle::judge(const Plan& plan, const TargetSpec& spec,
                                    std::span<const Observation> observations) const {
  const Observation& o = observations[0];
  const std::string self(name());
  if (auto v = cannot_judge(name(), o)) return *v;
  if (!spec.geometry)
    return {Outcome::not_applicable, self, "the target declares no launches", {}, -1};
  if (auto v = judge_launches(name(), plan, spec, o)) return *v;
  if (o.end != End::completed)
    return {Outcome::inconclusive, self, "the trial did not complete", {}, -1};
  return Verdict::pass(self);
}

}  // namespace redzone::oracles
