#include "bisect/dim_rows.h"

#include <algorithm>
#include <set>

#include "bisect/axis_list.h"
#include "bisect/dim_change.h"
#include "bisect/value_text.h"
#include "core/validate.h"

namespace redzone::bisect {
namespace {

// kMostKnown: number of values, in each direction, to look up in earlier results. kMostSteps:
// number of steps to search for the next valid value.
constexpr std::int64_t kMostKnown = 1024, kMostSteps = 64;

class DimRow {
 public:
  DimRow(const TargetSpec& spec, const Axis& axis, Bisection& out, Row& row)
      : spec_(spec),
        dim_(*axis.dim),
        axis_(axis),
        out_(out),
        row_(row),
        own_(leading_number(axis.value).value_or(0)) {}

  // The untried values next to a bound beyond which the plan seems to pass, or next to the only
  // passing value.
  std::vector<Tried> to_ask() const {
    const auto passing = values_with(Answer::passes);
    auto failing = values_with(Answer::fails);
    failing.insert(std::upper_bound(failing.begin(), failing.end(), own_), own_);
    if (passing.empty()) return {};
    std::optional<std::int64_t> at;
    if (passing.size() == 1 || passing.back() < failing.front())
      at = passing.back();
    else if (passing.front() > failing.back())
      at = passing.front();
    std::vector<Tried> out;
    if (!at) return out;
    for (auto& next : beside(*at))
      if (!has(*leading_number(next.value))) out.push_back(std::move(next));
    return out;
  }

  void add(Tried tried) { row_.tried.push_back(std::move(tried)); }

  void add_known(const Prober& prober) {
    for (const auto value : may_be_known()) {
      if (!proves_something(value) || has(value)) continue;
      auto tried = with(value);
      if (!tried) continue;
      tried->probe = prober.known(tried->plan);
      const Answer answer = tried->probe.answer;
      if (answer == Answer::fails || answer == Answer::passes) add(std::move(*tried));
    }
  }

  void settle() {
    std::stable_sort(row_.tried.begin(), row_.tried.end(), [](const Tried& a, const Tried& b) {
      return leading_number(a.value) < leading_number(b.value);
    });
    row_.judge(out_.base.counts);
    for (const auto value : values_with(Answer::passes)) {
      auto& next = row_.beside[value];
      for (const auto& tried : beside(value)) next.push_back(*leading_number(tried.value));
    }
    row_.all_tried = !dim_.values.empty() &&
                     std::all_of(dim_.values.begin(), dim_.values.end(),
                                 [&](std::int64_t value) { return has(value) || !with(value); });
  }

 private:
  std::vector<std::int64_t> values_with(Answer answer) const {
    std::vector<std::int64_t> out;
    for (const auto& tried : row_.tried)
      if (tried.probe.answer == answer) out.push_back(*leading_number(tried.value));
    std::sort(out.begin(), out.end());
    return out;
  }
  // Values from the smallest up, and values around the row's own.
  std::set<std::int64_t> may_be_known() const {
    if (!dim_.values.empty()) return {dim_.values.begin(), dim_.values.end()};
    std::set<std::int64_t> out;
    const std::int64_t least = least_value(dim_), most = reach(dim_, own_);
    for (std::int64_t k = 0; k < kMostKnown; ++k) {
      const std::int64_t by = k * dim_.multiple_of;
      for (const std::int64_t value : {least + by, own_ - by, own_ + by})
        if (value >= least && value <= most) out.insert(value);
    }
    return out;
  }
  bool has(std::int64_t value) const {
    return value == own_ || std::any_of(row_.tried.begin(), row_.tried.end(), [&](const Tried& t) {
             return leading_number(t.value) == value;
           });
  }
  // False for an empty call unless the failing plan has it: an empty call cannot fail.
  bool proves_something(std::int64_t value) const {
    return allows(dim_, value) && (value != 0 || own_ == 0);
  }

  // The plan with this value, without a result; nothing if it is invalid.
  std::optional<Tried> with(std::int64_t value) const {
    const Setting setting = dim_setting(out_.plan, spec_, dim_, axis_.steps, value);
    Draft draft(out_.plan);
    setting.apply(draft);
    Plan plan = draft.done();
    if (!validate(plan, spec_)) return std::nullopt;
    return Tried{setting.text, std::move(plan), {}};
  }

  // The plans with the nearest valid values below and above, without results.
  std::vector<Tried> beside(std::int64_t value) const {
    std::vector<Tried> out;
    for (const std::int64_t by : {-1, 1}) {
      std::int64_t next = value;
      for (std::int64_t steps = 0; steps < kMostSteps; ++steps) {
        const auto beyond = next_allowed(next, by);
        if (!beyond || !proves_something(*beyond)) break;
        next = *beyond;
        if (auto tried = with(next)) {
          out.push_back(std::move(*tried));
          break;
        }
      }
    }
    return out;
  }
  std::optional<std::int64_t> next_allowed(std::int64_t value, std::int64_t by) const {
    if (dim_.values.empty()) {
      const auto next = value + by * dim_.multiple_of;
      return allows(dim_, next) ? std::optional(next) : std::nullopt;
    }
    auto values = dim_.values;
    std::sort(values.begin(), values.end());
    const auto at = std::find(values.begin(), values.end(), value);
    if (at == values.end() || (by < 0 && at == values.begin())) return std::nullopt;
    const auto next = at + by;
    return next == values.end() ? std::nullopt : std::optional(*next);
  }

  const TargetSpec& spec_;
  const DimSpec& dim_;
  const Axis& axis_;
  const Bisection& out_;
  Row& row_;
  std::int64_t own_;
};

}  // namespace

void complete_dims(const TargetSpec& spec, std::span<const Axis> axes, Prober& prober,
                   Bisection& out) {
  std::vector<DimRow> rows;
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i].dim != nullptr) rows.emplace_back(spec, axes[i], out, out.rows[i]);
  std::vector<std::pair<std::size_t, Tried>> asked;
  std::vector<Plan> plans;
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (auto& tried : rows[i].to_ask()) {
      plans.push_back(tried.plan);
      asked.emplace_back(i, std::move(tried));
    }
  const auto probes = prober.ask(plans);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    asked[i].second.probe = probes[i];
    if (probes[i].counts.runs() > 0) rows[asked[i].first].add(std::move(asked[i].second));
  }
  for (auto& row : rows) {
    row.add_known(prober);
    row.settle();
  }
}

}  // namespace redzone::bisect
