#include "bisect/rechecks.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "bisect/value_text.h"
#include "core/validate.h"

namespace redzone::bisect {
namespace {

// A passing value under one other condition.
struct Recheck {
  Row* row;
  std::size_t tried;  // index in row->tried
  const Setting* condition;
  Probe probe = {};

  Tried& value() const { return row->tried[tried]; }
};

class Rechecker {
 public:
  Rechecker(const TargetSpec& spec, std::span<const Axis> axes, const AxesOptions& options,
            Prober& prober, Bisection& out)
      : spec_(spec), axes_(axes), options_(options), prober_(prober), out_(out) {}

  void with_other_data() {
    const auto data = find(AxisKind::data, kDataAxis);
    if (data == axes_.size()) return;
    auto rechecks = of_rows(axes_[data].others, kNearest,
                            [](const Axis& axis) { return axis.kind == AxisKind::dim; });
    for (const auto& r : ask(std::move(rechecks))) {
      auto& other = r.value().other_data;
      if (!other) other = Tried::OtherData{};
      ++other->tried;
      if (r.probe.answer != Answer::fails) continue;
      if (other->failing++ == 0) other->probe = r.probe;
      decides(data, *r.row);
    }
    for (auto& row : out_.rows)
      for (auto& tried : row.tried)
        if (tried.other_data && tried.other_data->failing == 0) tried.other_data.reset();
  }

  // A failure under blocking launches and a failure that needs queued work can have the same
  // signature. A setting that ends one of them then proves nothing about the other. A failure that
  // needs queued work may also end by chance, because the work takes longer.
  void under_other_launches() {
    const auto axis = find(AxisKind::mode, axis::kLaunch);
    std::vector<Setting> launches;
    if (axis != axes_.size()) {
      for (const auto& tried : out_.rows[axis].tried)
        if (tried.probe.answer == Answer::fails)
          for (const auto& other : axes_[axis].others)
            if (other.text == tried.value) launches.push_back(other);
    } else {
      launches = launches_beside_the_oracle();
    }
    const auto rechecks = of_rows(launches, kNearest, [&](const Axis& a) {
      return !a.alone && !(a.kind == AxisKind::mode && a.name == axis::kLaunch);
    });
    for (const auto& r : ask(rechecks)) {
      if (r.probe.answer != Answer::fails) continue;
      auto& other = r.value().other_launch;
      if (!other) other = Tried::OtherLaunch{r.condition->text, r.probe};
      decides(axis, *r.row);
    }
  }

  // The same seed of the schedule gives other interleavings if a call has another size or config.
  void under_other_schedules() {
    const auto axis = find(AxisKind::mode, axis::kSchedule);
    if (axis == axes_.size()) return;
    std::span<const Setting> schedules = axes_[axis].others;
    schedules = schedules.first(std::min(schedules.size(), kOtherSchedules));
    const auto rechecks = of_rows(schedules, kNearestInSchedules, [](const Axis& a) {
      return a.kind == AxisKind::dim || (a.kind == AxisKind::knob && !a.alone);
    });
    for (const auto& r : ask(rechecks)) {
      if (r.probe.answer != Answer::fails) continue;
      auto& other = r.value().other_schedule;
      if (!other) other = Tried::OtherSchedule{r.condition->text, r.probe};
      decides(axis, *r.row);
    }
  }

 private:
  std::size_t find(AxisKind kind, std::string_view name) const {
    return static_cast<std::size_t>(
        std::find_if(axes_.begin(), axes_.end(),
                     [&](const Axis& axis) { return axis.kind == kind && axis.name == name; }) -
        axes_.begin());
  }

  // If the oracle compares launches itself, the plan's own is still one of several that queue work.
  // Returns the others under which the failing plan fails, too.
  std::vector<Setting> launches_beside_the_oracle() {
    const auto& varied = options_.varied;
    const ModeAxis* const axis = find_mode_axis(options_.modes, axis::kLaunch);
    if (axis == nullptr || std::find(varied.begin(), varied.end(), axis->name) == varied.end())
      return {};
    std::vector<Setting> out;
    if (out_.plan.mode.launch == Launch::blocking) return out;
    for (const auto& value : axis->values) {
      Draft draft(out_.plan);
      value.set(draft);
      const Plan plan = draft.done();
      if (plan.mode.launch == Launch::blocking || plan.mode.launch == out_.plan.mode.launch)
        continue;
      if (validate(plan, spec_) && prober_.ask(plan).answer == Answer::fails)
        out.push_back({value.name, value.set});
    }
    return out;
  }

  // Up to `most` passing values of the row; for a dim, those nearest to the failing plan's value.
  static std::vector<std::size_t> nearest_passes(const Axis& axis, const Row& row,
                                                 std::size_t most) {
    const auto own = leading_number(axis.value).value_or(0);
    const auto distance = [&](std::size_t i) {
      if (axis.kind != AxisKind::dim) return std::int64_t{0};
      return std::abs(leading_number(row.tried[i].value).value_or(own) - own);
    };
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < row.tried.size(); ++i)
      if (row.tried[i].probe.answer == Answer::passes) out.push_back(i);
    std::stable_sort(out.begin(), out.end(),
                     [&](std::size_t a, std::size_t b) { return distance(a) < distance(b); });
    out.resize(std::min(out.size(), most));
    return out;
  }

  template <typename Is>
  std::vector<Recheck> of_rows(std::span<const Setting> conditions, std::size_t most, Is is) {
    std::vector<Recheck> out;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      Row& row = out_.rows[i];
      if (!is(axes_[i]) || row.necessary != true) continue;
      for (const auto tried : nearest_passes(axes_[i], row, most))
        for (const auto& condition : conditions) out.push_back({&row, tried, &condition});
    }
    return out;
  }

  // Leaves out what is invalid.
  std::vector<Recheck> ask(std::vector<Recheck> rechecks) {
    std::vector<Plan> plans;
    std::erase_if(rechecks, [&](const Recheck& r) {
      Draft draft(r.value().plan);
      r.condition->apply(draft);
      Plan plan = draft.done();
      if (!validate(plan, spec_)) return true;
      plans.push_back(std::move(plan));
      return false;
    });
    const auto probes = prober_.ask(plans);
    for (std::size_t i = 0; i < probes.size(); ++i) rechecks[i].probe = probes[i];
    return rechecks;
  }

  // Records that this axis, if the oracle does not vary it itself, decides where `with` has another
  // value.
  void decides(std::size_t axis, const Row& with) {
    if (axis == axes_.size()) return;
    auto& names = out_.rows[axis].decides_with;
    if (std::find(names.begin(), names.end(), with.axis) == names.end()) names.push_back(with.axis);
  }

  const TargetSpec& spec_;
  std::span<const Axis> axes_;
  const AxesOptions& options_;
  Prober& prober_;
  Bisection& out_;
};

}  // namespace

void recheck_passes(const TargetSpec& spec, std::span<const Axis> axes, const AxesOptions& options,
                    Prober& prober, Bisection& out) {
  Rechecker rechecker(spec, axes, options, prober, out);
  rechecker.with_other_data();
  rechecker.under_other_launches();
  rechecker.under_other_schedules();
}

}  // namespace redzone::bisect
