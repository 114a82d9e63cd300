#include "bisect/bisect.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "bisect/dim_rows.h"
#include "bisect/rechecks.h"
#include "bisect/smallest_set.h"
#include "core/validate.h"

namespace redzone::bisect {
namespace {

// One value of one axis, for a combination.
struct Pick {
  std::size_t axis;
  std::size_t setting;
};

bool a_value_passes(const Row& row) {
  return std::any_of(row.tried.begin(), row.tried.end(), [](const Tried& t) {
    return t.probe.answer == Answer::passes && t.probe.counts.passed > 0;
  });
}

class Bisector {
 public:
  Bisector(const Plan& plan, const TargetSpec& spec, Prober& prober, const BisectOptions& options)
      : plan_(plan),
        spec_(spec),
        prober_(prober),
        options_(options),
        axes_(axes_of(plan, spec, options.axes)),
        random_(std::stoull(plan_hash(plan).substr(0, 16), nullptr, 16)) {}

  Bisection run();

 private:
  std::size_t values() const;
  void vary_alone();
  // Treats values that fail only with this signature as ending the recorded failure; does nothing
  // for "".
  void look_past(std::string background);
  void vary_together();
  void bring_back();
  std::string text_of(const Pick& pick) const {
    return fmt::format("{} = {}", axes_[pick.axis].name,
                       axes_[pick.axis].others[pick.setting].text);
  }
  // The plan with these settings; empty if they are incompatible.
  std::optional<Plan> with(const std::vector<Pick>& picks) const;
  std::vector<Pick> some(const std::vector<Pick>& picks, const Subset& subset) const;
  ChangeSet change_set(const std::vector<Pick>& picks);
  // A random value of the axis with this answer that may be combined with those of other axes; any
  // if `alone`.
  std::optional<Pick> draw(std::size_t axis, Answer answer, bool alone = false);
  bool passes(const std::vector<Pick>& picks);
  // Returns settings that pass together and differ from the failing plan as much as possible:
  // settings of the axes that matter (`needed`), including `axis` if possible, and of all other
  // axes.
  std::vector<Pick> far_from(std::size_t axis, const std::vector<Pick>& needed);
  // Determines which settings of `far` restore the failure when reverted.
  void restore(const std::vector<Pick>& far);
  bool can_combine(std::size_t axis) const { return !axes_[axis].alone; }
  bool matters(std::size_t axis) const {
    return out_.rows[axis].necessary == true || !out_.rows[axis].or_else.empty();
  }

  const Plan& plan_;
  const TargetSpec& spec_;
  Prober& prober_;
  const BisectOptions& options_;
  std::vector<Axis> axes_;
  std::mt19937_64 random_;
  Bisection out_;  // its first rows are those of axes_
};

// Number of values to probe, including those that later steps may add.
std::size_t Bisector::values() const {
  std::size_t n = 0;
  for (const auto& axis : axes_)
    n += axis.others.size() + kNearest * kOtherLaunches +
         (axis.kind == AxisKind::dim ? kNearest * kOtherData + kBeside : 0) +
         (axis.kind == AxisKind::dim || axis.kind == AxisKind::knob
              ? kNearestInSchedules * kOtherSchedules
              : 0);
  return n;
}

std::optional<Plan> Bisector::with(const std::vector<Pick>& picks) const {
  Draft draft(plan_);
  for (const auto& pick : picks) axes_[pick.axis].others[pick.setting].apply(draft);
  Plan plan = draft.done();
  if (!validate(plan, spec_)) return std::nullopt;
  return plan;
}

std::vector<Pick> Bisector::some(const std::vector<Pick>& picks, const Subset& subset) const {
  std::vector<Pick> out;
  for (const auto i : subset) out.push_back(picks[i]);
  return out;
}

ChangeSet Bisector::change_set(const std::vector<Pick>& picks) {
  ChangeSet set;
  for (const auto& pick : picks) set.settings.push_back(text_of(pick));
  set.plan = with(picks).value_or(plan_);
  set.probe = prober_.ask(set.plan);
  return set;
}

std::optional<Pick> Bisector::draw(std::size_t axis, Answer answer, bool alone) {
  std::vector<Pick> fitting;
  const auto& tried = out_.rows[axis].tried;
  for (std::size_t s = 0; s < tried.size(); ++s)
    if (tried[s].probe.answer == answer && (alone || !axes_[axis].others[s].far))
      fitting.push_back({axis, s});
  if (fitting.empty()) return std::nullopt;
  return fitting[random_() % fitting.size()];
}

// Tries all values of all axes in one batch, so that they run in parallel.
void Bisector::vary_alone() {
  std::vector<Plan> plans;
  for (const auto& axis : axes_)
    for (const auto& setting : axis.others) {
      Draft draft(plan_);
      setting.apply(draft);
      plans.push_back(draft.done());
    }
  const auto probes = prober_.ask(plans);
  std::size_t next = 0;
  for (const auto& axis : axes_) {
    Row row{axis.kind, axis.name, axis.value, {}, {}, {}};
    for (const auto& setting : axis.others) {
      row.tried.push_back({setting.text, std::move(plans[next]), probes[next]});
      ++next;
    }
    row.judge(out_.base.counts);
    out_.rows.push_back(std::move(row));
  }
  look_past(background_of(probes));
}

void Bisector::look_past(std::string background) {
  if (background.empty()) return;
  prober_.look_past(background);
  out_.background = std::move(background);
  for (auto& row : out_.rows) {
    for (auto& tried : row.tried) tried.probe = prober_.known(tried.plan);
    row.judge(out_.base.counts);
  }
}

void Bisector::vary_together() {
  for (std::size_t tries = 0; tries < 4 * options_.combinations && !prober_.ended(); ++tries) {
    if (out_.combinations.size() == options_.combinations) break;
    std::vector<Pick> picks;
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      if (!can_combine(axis) || matters(axis) || random_() % 3 == 0) continue;
      // What takes other dims along would hide which of them matters.
      const auto pick = draw(axis, Answer::fails);
      if (pick && !axes_[axis].others[pick->setting].takes_along) picks.push_back(*pick);
    }
    if (picks.size() < 2 || !with(picks)) continue;
    auto set = change_set(picks);
    const bool passes = set.probe.answer == Answer::passes;
    out_.combinations.push_back(std::move(set));
    if (!passes) continue;
    const auto smallest = smallest_set(picks.size(), [&](const Subset& subset) {
      const auto plan = with(some(picks, subset));
      return plan && prober_.ask(*plan).answer == Answer::passes;
    });
    for (const auto i : smallest)
      for (const auto j : smallest)
        if (i != j) out_.rows[picks[i].axis].or_else.push_back(axes_[picks[j].axis].name);
    if (!out_.go) out_.go = change_set(some(picks, smallest));
  }
}

bool Bisector::passes(const std::vector<Pick>& picks) {
  const auto plan = with(picks);
  return plan && prober_.ask(*plan).answer == Answer::passes;
}

std::vector<Pick> Bisector::far_from(std::size_t axis, const std::vector<Pick>& needed) {
  std::vector<Pick> picks;
  const auto add = [&](const Pick& pick) {
    auto more = picks;
    more.push_back(pick);
    if (passes(more)) picks = std::move(more);
  };
  // Take all at once if they pass together; otherwise add one after another, `axis` first.
  if (passes(needed)) {
    picks = needed;
  } else {
    for (const auto& pick : needed)
      if (pick.axis == axis) add(pick);
    for (const auto& pick : needed)
      if (pick.axis != axis) add(pick);
  }
  std::vector<Pick> free;
  for (std::size_t other = 0; other < axes_.size(); ++other)
    if (can_combine(other) && !matters(other))
      if (const auto pick = draw(other, Answer::fails)) free.push_back(*pick);
  auto all = picks;
  all.insert(all.end(), free.begin(), free.end());
  return !picks.empty() && passes(all) ? all : picks;
}

void Bisector::restore(const std::vector<Pick>& far) {
  // Settings that are not in `far` keep the failing plan's value.
  const auto fails_with = [&](const Subset& restored) {
    const auto plan = with(some(far, complement(far.size(), restored)));
    return plan && prober_.ask(*plan).answer == Answer::fails;
  };
  for (std::size_t i = 0; i < far.size(); ++i) {
    Row& row = out_.rows[far[i].axis];
    if (matters(far[i].axis) && !row.sufficient) row.sufficient = fails_with({i});
  }
  if (out_.come) return;
  const auto restored = smallest_set(far.size(), fails_with);
  ChangeSet come = change_set(some(far, complement(far.size(), restored)));
  come.settings.clear();
  for (const auto i : restored) {
    const Axis& axis = axes_[far[i].axis];
    come.settings.push_back(fmt::format("{} = {}", axis.name, axis.value));
  }
  out_.come = std::move(come);
}

void Bisector::bring_back() {
  // Take the simplest setting that ends the failure: axes are sorted by simplicity.
  for (std::size_t axis = 0; axis < axes_.size() && !out_.go; ++axis)
    if (out_.rows[axis].necessary == true) {
      auto pick = draw(axis, Answer::passes);
      if (!pick) pick = draw(axis, Answer::passes, true);
      if (pick) out_.go = change_set({*pick});
    }
  std::vector<Pick> needed;
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    if (!can_combine(axis) || !matters(axis)) continue;
    const bool alone = out_.rows[axis].necessary == true;
    if (const auto pick = draw(axis, alone ? Answer::passes : Answer::fails))
      needed.push_back(*pick);
  }
  for (const auto& pick : needed) {
    if (out_.rows[pick.axis].sufficient || prober_.ended()) continue;
    if (const auto far = far_from(pick.axis, needed); !far.empty()) restore(far);
  }
}

Bisection Bisector::run() {
  out_.plan = plan_;
  const std::int64_t before = prober_.runs();
  out_.base = prober_.calibrate(
      plan_, options_.error / static_cast<double>(values() + 4 * options_.combinations));
  if (out_.base.answer == Answer::fails) {
    vary_alone();
    vary_together();
    bring_back();
    complete_dims(spec_, axes_, prober_, out_);
    recheck_passes(spec_, axes_, options_.axes, prober_, out_);
    // Later steps may have found a value that passes, so there is no background.
    if (std::any_of(out_.rows.begin(), out_.rows.end(), a_value_passes)) out_.background.clear();
    if (const auto& varied = options_.axes.varied; !varied.empty()) {
      Row row{AxisKind::mode, std::string(varied.front()), "compared", {}, true, {}};
      row.by_oracle = true;
      out_.rows.push_back(std::move(row));
    }
  }
  out_.complete = !prober_.ended();
  out_.runs = prober_.runs() - before;
  return std::move(out_);
}

}  // namespace

void Row::judge(const Counts& base) {
  const auto any = [&](Answer answer) {
    return std::any_of(tried.begin(), tried.end(),
                       [&](const Tried& t) { return t.probe.answer == answer; });
  };
  necessary.reset();
  if (any(Answer::passes))
    necessary = true;
  else if (any(Answer::fails) && !any(Answer::undecided))
    necessary = false;
  otherwise = !tried.empty() && std::all_of(tried.begin(), tried.end(), [&](const Tried& t) {
    return t.probe.answer == Answer::differs && (t.probe.counts.passed == 0 || base.passed > 0);
  });
}

Relevance Row::relevance() const {
  if (necessary == true) return sufficient == true ? Relevance::both : Relevance::necessary;
  if (sufficient == true || !or_else.empty()) return Relevance::sufficient;
  if (!decides_with.empty()) return Relevance::conditional;
  if (otherwise) return Relevance::otherwise;
  return necessary == false ? Relevance::irrelevant : Relevance::unknown;
}

Bisection bisect(const Plan& plan, const TargetSpec& spec, Prober& prober,
                 const BisectOptions& options) {
  return Bisector(plan, spec, prober, options).run();
}

}  // namespace redzone::bisect
