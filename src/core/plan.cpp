#include "core/plan.h"

#include <fmt/format.h>
#include <xxhash.h>

#include "core/plan_text.h"

namespace redzone {

const Layout& Call::layout(std::string_view tensor) const {
  static const Layout contiguous;
  auto it = layouts.find(tensor);
  return it == layouts.end() ? contiguous : it->second;
}

std::vector<const CallStep*> calls_of(const Plan& plan) {
  std::vector<const CallStep*> calls;
  for (const auto& step : plan.steps)
    if (const auto* call = std::get_if<CallStep>(&step)) calls.push_back(call);
  return calls;
}

std::int64_t call_count(const Plan& plan) {
  std::int64_t n = 0;
  for (const auto* call : calls_of(plan)) n += call->repeat;
  return n;
}

std::string plan_hash(const Plan& plan) {
  const std::string text = print_plan(plan);
  const XXH128_hash_t h = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", h.high64, h.low64);
}

}  // namespace redzone
