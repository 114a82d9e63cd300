#include "oracles/scratch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "oracles/checks.h"

namespace redzone::oracles {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kMost : product;
}

// Why a request is too small, the plainest reason first.
enum class Missing : std::uint8_t {
  everything,
  upper_half,  // the product was computed in 32 bits
  num_ctas,
  grid,
  grid_and_num_ctas,
  earlier_call,
  size,  // no known rule explains the size
  alignment,
};
constexpr int kReasons = 8;

struct Words {
  const char* factor;  // for the signature
  const char* reason;
};

Words words(Missing missing) {
  switch (missing) {
    case Missing::everything:
      return {"everything", "the pointer is null"};
    case Missing::upper_half:
      return {"32-bit product", "the product was computed in 32 bits"};
    case Missing::num_ctas:
      return {"num_ctas", "num_ctas is missing"};
    case Missing::grid:
      return {"grid", "the grid is missing"};
    case Missing::grid_and_num_ctas:
      return {"grid and num_ctas", "the grid and num_ctas are missing"};
    case Missing::earlier_call:
      return {"earlier call", "that is what an earlier call needed"};
    case Missing::size:
      return {"size", "no factor explains it"};
    case Missing::alignment:
      return {"alignment", "the alignment is missing"};
  }
  return {"", ""};
}

// A bit for each Missing.
using Reasons = std::uint32_t;

constexpr Reasons bit(Missing missing) {
  return Reasons{1} << static_cast<int>(missing);
}

bool too_small(const ScratchObservation& r) {
  const std::uint64_t needed = needed_bytes(r);
  return needed > 0 && (r.bytes < needed || r.align < r.need_align);
}

// The required bytes without some factors. Bits 0..2 of `left_out`: the axes of the grid; bit 3:
// num_ctas.
std::uint64_t without(const ScratchObservation& r, unsigned left_out) {
  std::uint64_t product = r.bytes_per_cta;
  for (unsigned axis = 0; axis < 3; ++axis)
    if ((left_out >> axis & 1) == 0)
      product = times(product, static_cast<std::uint64_t>(r.grid[axis]));
  return (left_out & 8) == 0 ? times(product, static_cast<std::uint64_t>(r.num_ctas)) : product;
}

// `earlier`: the required bytes of the earlier requests with the same name.
Reasons explain(const ScratchObservation& r, const std::vector<std::uint64_t>& earlier) {
  const std::uint64_t needed = needed_bytes(r);
  if (r.bytes >= needed) return bit(Missing::alignment);
  Reasons reasons = 0;
  if (r.bytes == 0) reasons |= bit(Missing::everything);
  if (needed != kMost && r.bytes == (needed & 0xffffffffu)) reasons |= bit(Missing::upper_half);
  for (unsigned left_out = 1; left_out < 16; ++left_out) {
    if (without(r, left_out) != r.bytes) continue;
    const bool ctas = (left_out & 8) != 0;
    reasons |= bit(left_out == 8 ? Missing::num_ctas
                   : ctas        ? Missing::grid_and_num_ctas
                                 : Missing::grid);
  }
  if (std::find(earlier.begin(), earlier.end(), r.bytes) != earlier.end())
    reasons |= bit(Missing::earlier_call);
  return reasons != 0 ? reasons : bit(Missing::size);
}

Missing plainest(Reasons reasons) {
  int i = 0;
  while (i + 1 < kReasons && (reasons >> i & 1) == 0) ++i;
  return static_cast<Missing>(i);
}

// A request; requests_of() returns those of one name, in the order of the calls.
struct Request {
  std::int32_t call = -1;
  const ScratchObservation* observed = nullptr;
  Reasons reasons = 0;  // 0: the request is large enough
};

std::vector<Request> requests_of(const Observation& observation, std::string_view name) {
  std::vector<Request> out;
  std::vector<std::uint64_t> earlier;
  for (const auto& call : observation.calls)
    for (const auto& r : call.scratch) {
      if (r.name != name) continue;
      out.push_back({call.call, &r, too_small(r) ? explain(r, earlier) : 0});
      earlier.push_back(needed_bytes(r));
    }
  return out;
}

std::string sentence(const Plan& plan, const Request& request, Missing missing) {
  const ScratchObservation& r = *request.observed;
  if (missing == Missing::alignment)
    return fmt::format("scratch '{}' of {} is aligned to {} bytes; the kernel needs {}: {}", r.name,
                       describe_call(plan, request.call), r.align, r.need_align,
                       words(missing).reason);
  const std::uint64_t needed = needed_bytes(r);
  return fmt::format(
      "scratch '{}' of {} has {} bytes; the kernel needs {}{} = {} a CTA * grid {} * {} * {} * "
      "num_ctas {}: {}",
      r.name, describe_call(plan, request.call), r.bytes, needed == kMost ? "more than " : "",
      needed, r.bytes_per_cta, r.grid[0], r.grid[1], r.grid[2], r.num_ctas, words(missing).reason);
}

}  // namespace

std::uint64_t needed_bytes(const ScratchObservation& r) {
  for (const auto extent : {r.grid[0], r.grid[1], r.grid[2], r.num_ctas})
    if (extent < 1) return 0;
  return without(r, 0);
}

std::optional<Verdict> judge_scratch(std::string_view oracle, const Plan& plan,
                                     const Observation& observation) {
  std::vector<std::string_view> judged;
  for (const auto& call : observation.calls)
    for (const auto& r : call.scratch) {
      if (std::find(judged.begin(), judged.end(), r.name) != judged.end()) continue;
      judged.push_back(r.name);
      const auto requests = requests_of(observation, r.name);
      const auto first = std::find_if(requests.begin(), requests.end(),
                                      [](const Request& x) { return x.reasons != 0; });
      if (first == requests.end()) continue;
      Reasons common = first->reasons;
      for (const auto& x : requests)
        if ((common & x.reasons) != 0) common &= x.reasons;
      const Missing missing = plainest(common);
      Signature s;
      s.kind = FailKind::scratch;
      s.target = plan.target;
      s.buffer = r.name;
      s.side = words(missing).factor;
      return fail(oracle, s, first->call, sentence(plan, *first, missing));
    }
  return std::nullopt;
}

std::vector<TrialSpec> ScratchOracle::expand(const Plan& plan, const TargetSpec&) const {
  return {{plan.mode, {}, false}};
}

Verdict ScratchOracle::judge(const Plan& plan, const TargetSpec&,
                             std::span<const Observation> observations) const {
  const Observation& o = observations[0];
  if (auto v = cannot_judge(name(), o)) return *v;
  // Requests are recorded regardless of how the trial ended.
  if (auto v = judge_scratch(name(), plan, o)) return *v;
  const std::string self(name());
  if (o.end != End::completed)
    return {Outcome::inconclusive, self, "the trial did not complete", {}, -1};
  const bool told = std::any_of(o.calls.begin(), o.calls.end(),
                                [](const CallObservation& c) { return !c.scratch.empty(); });
  if (!told)
    return {
        Outcome::not_applicable, self, "the target does not declare what scratch it needs", {}, -1};
  return Verdict::pass(self);
}

}  // namespace redzone::oracles
