#include "report/needs.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/mode_axes.h"
#include "statistics/fisher.h"

namespace redzone::report {
namespace {

// Probability of reporting that a busy machine is needed although the load has no effect.
constexpr double kFalseAlarm = 0.01;

// True for a row with the plan's own value, on an axis whose value a finding may need.
bool may_be_needed(const Plan& plan, const AttributionRow& row) {
  const ModeAxis* axis = find_mode_axis(all_mode_axes(), row.axis);
  return axis != nullptr && axis->needed && row.value == axis->value(plan);
}

std::string failed_ratio(const Reliability& r) {
  return fmt::format("{}/{}", r.k, r.n);
}

// The other values of the axis that pass.
std::string passes_with(const Finding& f, const AttributionRow& own) {
  std::string out;
  for (const auto& row : f.attribution)
    if (row.axis == own.axis && row.failed.n > 0 && row.failed.k == 0)
      out +=
          fmt::format("{}{} with {}", out.empty() ? "" : ", ", failed_ratio(row.failed), row.value);
  return out;
}

// "; fails 3/3 with guard, gated": the finding then has a second mechanism, independent of the
// axis.
std::string fails_otherwise(const Finding& f, const AttributionRow& own) {
  std::string out;
  for (const auto& row : f.attribution)
    if (row.axis == and_launch(own.axis) && row.failed.k > 0)
      out += fmt::format("{}{} with {}", out.empty() ? "; fails " : ", ", failed_ratio(row.failed),
                         row.value);
  return out;
}

bool fails_less(const Reliability& a, const Reliability& b) {
  return statistics::fisher_exact(a.k, a.n, b.k, b.n).less <= kFalseAlarm;
}

const AttributionRow* load_row(const Finding& f, std::string_view value) {
  const auto it = std::find_if(
      f.attribution.begin(), f.attribution.end(),
      [&](const AttributionRow& r) { return r.axis == axis::kLoad && r.value == value; });
  return it == f.attribution.end() ? nullptr : &*it;
}

}  // namespace

std::vector<std::string> needs_of(const Finding& f) {
  std::vector<std::string> out;
  if (f.needs_history) out.emplace_back("calls of plans that the worker ran before");
  for (const auto& row : f.attribution) {
    if (f.state != FindingState::confirmed || row.failed.k == 0) continue;
    if (!may_be_needed(f.plan, row)) continue;
    if (const auto passes = passes_with(f, row); !passes.empty())
      out.push_back(
          fmt::format("{} {} ({}{})", row.axis, row.value, passes, fails_otherwise(f, row)));
  }
  const auto *alone = load_row(f, axis::kAlone), *busy = load_row(f, axis::kSideBySide);
  if (alone != nullptr && busy != nullptr && fails_less(alone->failed, busy->failed))
    out.push_back(fmt::format("a busy machine ({} alone, {} side by side)",
                              failed_ratio(alone->failed), failed_ratio(busy->failed)));
  return out;
}

}  // namespace redzone::report
