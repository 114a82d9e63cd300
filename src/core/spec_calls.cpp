#include "core/spec_calls.h"

#include <fmt/format.h>

namespace redzone {
namespace {

// A function is named if it took more than 1/10 of the time.
constexpr int kNamedPart = 10;

// A function with shorter calls is not slow: the plans did little other work.
constexpr std::chrono::microseconds kSlowCall{50};

std::string time_of_call(double ms) {
  if (ms < 1) return fmt::format("{:.0f} us", ms * 1000);
  return ms < 10 ? fmt::format("{:.1f} ms", ms) : fmt::format("{:.0f} ms", ms);
}

}  // namespace

SpecCalls::Function* SpecCalls::keep(std::string name) {
  const std::lock_guard lock(mutex_);
  return &functions_.emplace_back(std::move(name));
}

std::vector<SpecFunctionTime> SpecCalls::times() const {
  const std::lock_guard lock(mutex_);
  std::vector<SpecFunctionTime> out;
  for (const auto& f : functions_)
    out.push_back({f.name_, f.calls_, std::chrono::microseconds(f.in_all_us_)});
  return out;
}

std::vector<std::string> slow_functions(const std::vector<SpecFunctionTime>& before,
                                        const std::vector<SpecFunctionTime>& after,
                                        std::chrono::microseconds elapsed) {
  std::vector<SpecFunctionTime> since = after;
  std::chrono::microseconds sum{0};
  for (std::size_t i = 0; i < since.size(); ++i) {
    if (i < before.size()) {
      since[i].calls -= before[i].calls;
      since[i].in_all -= before[i].in_all;
    }
    sum += since[i].in_all;
  }
  std::vector<std::string> out;
  if (sum * 2 <= elapsed) return out;
  for (const auto& f : since)
    if (f.calls > 0 && f.in_all * kNamedPart > elapsed &&
        f.in_all >= kSlowCall * static_cast<std::int64_t>(f.calls))
      out.push_back(fmt::format("{} takes {} a call", f.function,
                                time_of_call(static_cast<double>(f.in_all.count()) /
                                             static_cast<double>(f.calls) / 1e3)));
  return out;
}

}  // namespace redzone
