#include "bisect/boundary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <span>

#include "bisect/axes.h"
#include "bisect/dim_change.h"
#include "bisect/rivals.h"
#include "bisect/value_text.h"
#include "core/names.h"
#include "core/validate.h"

namespace redzone::bisect {
namespace {

constexpr int kMostRounds = 8;
constexpr std::int64_t kMostInFull = 64;       // of so many values each is tried
constexpr std::size_t kFresh = 12;             // random values on which a rule is tested
constexpr std::int64_t kMostRecalled = 65536;  // values looked up in the results of earlier
                                               // bisections
// Passing values tried again with other data, and with other schedules.
constexpr std::size_t kRetried = 2, kRescheduled = 1;

class Search {
 public:
  Search(const Plan& plan, const TargetSpec& spec, const DimSpec& dim,
         std::vector<std::size_t> steps, const AxesOptions& axes, Prober& prober, Boundary& out)
      : plan_(plan),
        spec_(spec),
        dim_(dim),
        steps_(std::move(steps)),
        axes_(axes),
        prober_(prober),
        out_(out),
        own_(get(std::get<CallStep>(plan.steps[steps_.front()]).call.dims, dim.name)),
        least_(least_value(dim)),
        most_(std::max(reach(dim, own_), beyond_other_calls())),
        far_(far_value(spec, std::get<CallStep>(plan.steps[steps_.front()]).call, dim,
                       calls_of(plan).size())),
        random_(std::stoull(plan_hash(plan).substr(0, 16), nullptr, 16)) {}

  void run() {
    out_.reach = most_;
    out_.possible = possible(most_);
    ask(first_values());
    if (far_) ask({*far_});
    bool settled = false, recalled = false;
    for (int round = 0; round < kMostRounds && !settled && !prober_.ended(); ++round) {
      out_.rule = fit_rule(answers_, dim_.tile);
      while (out_.rule && !prober_.ended() && narrow()) out_.rule = fit_rule(answers_, dim_.tile);
      const auto fresh = fresh_values();
      ask(fresh);
      settled = fresh.empty() || was_right(fresh);
      if (!settled || recalled) continue;
      recalled = true;
      settled = recall();
    }
    if (!recalled) recall();
    if (!settled) out_.rule = fit_rule(answers_, dim_.tile);
    // Further tests would keep contradicting this rule, too.
    if (!settled && !prober_.ended()) out_.rule = std::nullopt;
    if (out_.rule && contradicted_by_open()) out_.rule = std::nullopt;
    std::sort(out_.samples.begin(), out_.samples.end(),
              [](const DimSample& a, const DimSample& b) { return a.value < b.value; });
    if (!out_.rule) return;
    name_the_only_value();
    try_other_data();
    try_other_schedules();
  }

 private:
  // "at most the smallest value" is that value, and so is "at least the largest".
  void name_the_only_value() {
    DimRule& rule = *out_.rule;
    if (rule.kind != DimRule::Class::all) return;
    if (rule.most && !rule.least && !is_possible_below(*rule.most)) rule.least = rule.most;
    if (rule.least && !rule.most && *rule.least == largest()) rule.most = rule.least;
  }
  bool is_possible_below(std::int64_t value) const {
    if (dim_.values.empty()) return least_ < value;
    return std::any_of(dim_.values.begin(), dim_.values.end(),
                       [&](std::int64_t v) { return v < value; });
  }
  std::int64_t largest() const {
    return dim_.values.empty() ? dim_.max / dim_.multiple_of * dim_.multiple_of
                               : *std::max_element(dim_.values.begin(), dim_.values.end());
  }

  // The passing values nearest to the plan's own.
  std::vector<std::int64_t> nearest_passes(std::size_t most) const {
    std::vector<std::int64_t> passing;
    for (const auto& s : out_.samples)
      if (s.probe.answer == Answer::passes && s.value != 0) passing.push_back(s.value);
    std::stable_sort(passing.begin(), passing.end(), [&](std::int64_t a, std::int64_t b) {
      return std::abs(a - own_) < std::abs(b - own_);
    });
    passing.resize(std::min(passing.size(), most));
    return passing;
  }

  // Repeats passing values with other data, because a value of the dim also determines the
  // generated data.
  void try_other_data() {
    for (const auto value : nearest_passes(kRetried)) {
      const auto plan = with(value);
      if (!plan) continue;
      std::vector<Plan> plans;
      for (std::uint64_t by = 1; by <= kOtherData; ++by)
        use_other_data(plans.emplace_back(*plan), by);
      if (any_fails(plans)) out_.only_this_data.push_back(value);
    }
  }

  // Does the same with other schedules: a seed gives other interleavings if a call has another
  // size.
  void try_other_schedules() {
    const ModeAxis* const axis = find_mode_axis(axes_.modes, axis::kSchedule);
    const auto& varied = axes_.varied;
    if (axis == nullptr || (axis->has != nullptr && !axis->has(plan_)) ||
        std::find(varied.begin(), varied.end(), axis->name) != varied.end())
      return;
    for (const auto value : nearest_passes(kRescheduled)) {
      const auto plan = with(value);
      if (!plan) continue;
      std::vector<Plan> plans;
      for (const auto& schedule : axis->values) {
        Draft draft(*plan);
        schedule.set(draft);
        plans.push_back(draft.done());
      }
      if (any_fails(plans)) out_.only_this_schedule.push_back(value);
    }
  }

  bool any_fails(std::span<const Plan> plans) {
    const auto probes = prober_.ask(plans);
    return std::any_of(probes.begin(), probes.end(),
                       [](const Probe& p) { return p.answer == Answer::fails; });
  }

  // Number of values up to this one, if constraints allow all.
  std::int64_t possible(std::int64_t up_to) const {
    if (dim_.values.empty())
      return std::max<std::int64_t>((up_to - least_) / dim_.multiple_of + 1, 1);
    return std::count_if(dim_.values.begin(), dim_.values.end(),
                         [&](std::int64_t value) { return value <= up_to; });
  }

  // The value just above the largest that any call has.
  std::int64_t beyond_other_calls() const {
    return std::min(dim_.max, *values_of_calls().rbegin() + dim_.multiple_of);
  }
  std::set<std::int64_t> values_of_calls() const {
    std::set<std::int64_t> values;
    for (const auto* step : calls_of(plan_)) values.insert(get(step->call.dims, dim_.name));
    return values;
  }

  std::optional<Plan> with(std::int64_t value) const {
    Plan plan = plan_;
    for (const auto step : steps_)
      set_dim(std::get<CallStep>(plan.steps[step]).call, spec_, dim_.name, value);
    if (!validate(plan, spec_)) return std::nullopt;
    return plan;
  }

  void add(std::int64_t value, const Probe& probe) {
    const auto at = std::find_if(out_.samples.begin(), out_.samples.end(),
                                 [&](const DimSample& s) { return s.value == value; });
    if (at == out_.samples.end())
      out_.samples.push_back({value, probe});
    else
      at->probe = probe;
    if (probe.answer == Answer::fails || probe.answer == Answer::passes)
      answers_[value] = probe.answer == Answer::fails;
  }

  // Adds values that earlier bisections of the plan have decided; returns false if one contradicts
  // the rule. Called after the search, so that a repeated search makes the same queries, whose
  // answers are already known.
  bool recall() {
    if (!prober_.knows_others()) return true;
    bool agrees = true;
    const auto last = std::min(most_, least_ + kMostRecalled * dim_.multiple_of);
    for (std::int64_t value = least_; value <= last; value += dim_.multiple_of) {
      if (!allows(dim_, value) || seen_.contains(value)) continue;
      const auto plan = with(value);
      if (!plan) continue;
      const Probe probe = prober_.known(*plan);
      if (probe.answer != Answer::fails && probe.answer != Answer::passes) continue;
      add(value, probe);
      agrees = agrees && out_.rule && out_.rule->fails(value) == answers_[value];
    }
    return agrees;
  }

  // True if there is a rule, some of these values could be judged, and the rule predicted all of
  // those.
  bool was_right(const std::vector<std::int64_t>& fresh) {
    std::size_t right = 0, judged = 0;
    for (const auto v : fresh)
      if (const auto it = answers_.find(v); it != answers_.end() && out_.rule) {
        ++judged;
        right += out_.rule->fails(v) == it->second ? 1 : 0;
      }
    if (judged == 0 || right != judged) return false;
    out_.predicted = judged;
    return true;
  }

  // True if an undecided value was run and so far has shown only the opposite of the rule.
  bool contradicted_by_open() const {
    return std::any_of(out_.samples.begin(), out_.samples.end(), [&](const DimSample& s) {
      const Counts& counts = s.probe.counts;
      if (s.probe.answer != Answer::undecided || counts.judged() == 0) return false;
      return out_.rule->fails(s.value) != (counts.same > 0);
    });
  }

  void ask(const std::vector<std::int64_t>& values) {
    std::vector<Plan> plans;
    std::vector<std::int64_t> asked;
    for (const auto v : values) {
      if (seen_.contains(v) || !allows(dim_, v)) continue;
      auto plan = with(v);
      if (!plan) continue;
      seen_.insert(v);
      asked.push_back(v);
      plans.push_back(std::move(*plan));
    }
    const auto probes = prober_.ask(plans);
    for (std::size_t i = 0; i < probes.size(); ++i) add(asked[i], probes[i]);
  }

  std::vector<std::int64_t> first_values() const {
    if (!dim_.values.empty()) return dim_.values;
    if (possible(most_) <= kMostInFull) {
      std::vector<std::int64_t> all;
      for (auto value = least_; value <= most_; value += dim_.multiple_of) all.push_back(value);
      return all;
    }
    std::set<std::int64_t> values{dim_.min, dim_.min + 1, own_, most_};
    const auto both_sides = [&](std::int64_t v) {
      for (const auto by : {-1, 0, 1}) values.insert(v + by * dim_.multiple_of);
    };
    for (const auto value : values_of_calls()) both_sides(value);
    for (std::int64_t power = 1; power <= most_; power *= 2) both_sides(power);
    for (const std::int64_t k : {1, 2, 3}) {
      both_sides(16 * k);
      if (dim_.tile > 0) both_sides(dim_.tile * k);
    }
    return {values.begin(), values.lower_bound(most_ + 1)};
  }

  // Returns a value of the failing class near the middle between `fails`, an end of the failing
  // range, and the nearest passing value of the class beyond it.
  std::optional<std::int64_t> middle_beyond(std::int64_t fails, bool below) const {
    DimRule unbounded = *out_.rule;
    unbounded.least = unbounded.most = std::nullopt;
    std::optional<std::int64_t> passes;
    for (const auto& [v, _] : answers_) {
      if (below ? v >= fails : v <= fails) continue;
      if (unbounded.fails(v) && (below || !passes)) passes = v;
    }
    if (!passes) return std::nullopt;
    const std::int64_t low = std::min(*passes, fails), high = std::max(*passes, fails);
    const std::int64_t middle = (low + high) / 2 / dim_.multiple_of * dim_.multiple_of;
    for (std::int64_t by = 0; by <= high - low; by += dim_.multiple_of)
      for (const auto v : {middle - by, middle + by})
        if (v > low && v < high && !seen_.contains(v) && unbounded.fails(v)) return v;
    return std::nullopt;
  }

  // Halves the gap at each end of the failing range. Returns true if there was a gap.
  bool narrow() {
    std::vector<std::int64_t> middles;
    if (const auto least = out_.rule->least)
      if (const auto v = middle_beyond(*least, true)) middles.push_back(*v);
    if (const auto most = out_.rule->most)
      if (const auto v = middle_beyond(*most, false)) middles.push_back(*v);
    const auto known = seen_.size();
    ask(middles);
    return seen_.size() > known;
  }

  // Values that the rule was not fitted to: values where other rules differ from it, and random
  // values.
  std::vector<std::int64_t> fresh_values() {
    std::set<std::int64_t> values;
    const auto units = std::max<std::int64_t>((most_ - least_) / dim_.multiple_of + 1, 1);
    for (std::size_t tries = 0; tries < 20 * kFresh && values.size() < kFresh; ++tries) {
      auto v = least_ + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(units)) *
                            dim_.multiple_of;
      // Every second value is small, because rules differ most there.
      if (tries % 2 == 1) v = least_ + v % std::min<std::int64_t>(units, 64) * dim_.multiple_of;
      if (out_.rule && out_.rule->modulus > 1 && tries % 3 == 0) {
        const auto& few = out_.rule->remainders;
        auto pick = few.begin();
        std::advance(pick, static_cast<std::ptrdiff_t>(random_() % few.size()));
        v = v / out_.rule->modulus * out_.rule->modulus + *pick;
      }
      if (is_fresh(v)) values.insert(v);
    }
    if (out_.rule)
      for (const auto v : rivals(*out_.rule, answers_, dim_.min, most_))
        if (is_fresh(v)) values.insert(v);
    return {values.begin(), values.end()};
  }
  // True if the value can be probed and was not yet. Constraints may forbid most values.
  bool is_fresh(std::int64_t value) const {
    return value <= most_ && !seen_.contains(value) && allows(dim_, value) && with(value);
  }

  const Plan& plan_;
  const TargetSpec& spec_;
  const DimSpec& dim_;
  std::vector<std::size_t> steps_;
  const AxesOptions& axes_;
  Prober& prober_;
  Boundary& out_;
  std::int64_t own_, least_, most_;
  std::optional<std::int64_t> far_;
  std::mt19937_64 random_;
  std::set<std::int64_t> seen_;  // values probed in this search
  std::map<std::int64_t, bool> answers_;
};

Result<const DimSpec*> dim_named(const TargetSpec& spec, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& dim : spec.dims) {
    if (dim.name == name) return &dim;
    names.push_back(dim.name);
  }
  return usage_error(
      fmt::format("'{}' has no dim '{}'{}", spec.name, name, did_you_mean(name, names)));
}

// The call steps whose dim is changed, and how to name them.
Result<std::pair<std::vector<std::size_t>, std::string>> steps_for(const Plan& plan,
                                                                   const std::string& dim,
                                                                   std::size_t call) {
  std::vector<std::size_t> steps;
  for (std::size_t i = 0; i < plan.steps.size(); ++i)
    if (std::holds_alternative<CallStep>(plan.steps[i])) steps.push_back(i);
  if (call > steps.size())
    return usage_error(
        fmt::format("the plan has no call {}: its last is call {}", call, steps.size()));
  if (steps.size() == 1) return std::pair(steps, std::string());
  const auto value = [&](std::size_t step) {
    return get(std::get<CallStep>(plan.steps[step]).call.dims, dim);
  };
  if (call == 0 && std::all_of(steps.begin(), steps.end(), [&](std::size_t step) {
        return value(step) == value(steps.front());
      }))
    return std::pair(steps, std::string("all calls"));
  if (call == 0) call = steps.size();
  return std::pair(std::vector<std::size_t>{steps[call - 1]}, fmt::format("call {}", call));
}

// "1, 2 and 5 more", or "nothing".
std::string samples_with(const Boundary& b, Answer answer) {
  std::vector<std::int64_t> values;
  for (const auto& s : b.samples)
    if (s.probe.answer == answer) values.push_back(s.value);
  return values.empty() ? "nothing" : some_of(values);
}

// "; not yet decided: 3, 7", or "".
std::string open_values(const Boundary& b) {
  const auto is_open = [](const DimSample& s) { return s.probe.answer == Answer::undecided; };
  if (std::none_of(b.samples.begin(), b.samples.end(), is_open)) return "";
  return "; not yet decided: " + samples_with(b, Answer::undecided);
}

// "47 of 256 values tried, from 1 to 256", and which larger ones.
std::string tried(const Boundary& b) {
  std::size_t beyond = 0;
  for (const auto& s : b.samples) beyond += s.value > b.reach ? 1 : 0;
  const std::size_t within = b.samples.size() - beyond;
  if (within == 0) return fmt::format("{} values tried", b.samples.size());
  std::string out = fmt::format("{} of {} values tried, from {} to {}", within, b.possible,
                                b.samples.front().value, b.samples[within - 1].value);
  if (beyond == 1) out += fmt::format(", and {}", b.samples.back().value);
  if (beyond > 1) out += fmt::format(", and {} up to {}", beyond, b.samples.back().value);
  return out;
}

// What the rule is limited to, as a passing value near the plan's own fails otherwise.
std::string conditions(const Boundary& b) {
  if (b.only_this_data.empty() && b.only_this_schedule.empty()) return "";
  const char* const both = b.only_this_schedule.empty() ? "data" : "data and schedule";
  return fmt::format("with this {}: ", b.only_this_data.empty() ? "schedule" : both);
}

}  // namespace

const DimSample* Boundary::sample(std::int64_t value) const {
  for (const auto& s : samples)
    if (s.value == value) return &s;
  return nullptr;
}

Result<Boundary> find_boundary(const Plan& plan, const TargetSpec& spec, const std::string& dim,
                               Prober& prober, const BoundaryOptions& options) {
  RZ_TRY_ASSIGN(const auto named, dim_named(spec, dim));
  RZ_TRY_ASSIGN(auto steps, steps_for(plan, dim, options.call));
  Boundary out;
  out.dim = dim;
  out.calls = steps.second;
  const std::int64_t before = prober.runs();
  constexpr double kSamples = 100;
  out.base = prober.calibrate(plan, options.error / kSamples);
  if (out.base.answer == Answer::fails) {
    Search(plan, spec, *named, steps.first, options.axes, prober, out).run();
    std::vector<Probe> probes;
    for (const auto& sample : out.samples) probes.push_back(sample.probe);
    out.background = background_of(probes);
    if (!out.background.empty()) {  // search again; most answers are already known
      prober.look_past(out.background);
      out.samples.clear();
      out.rule.reset();
      Search(plan, spec, *named, steps.first, options.axes, prober, out).run();
      // The second search may probe other values than the first.
      if (std::any_of(out.samples.begin(), out.samples.end(),
                      [](const DimSample& s) { return s.probe.counts.passed > 0; }))
        out.background.clear();
    }
  }
  out.complete = !prober.ended();
  out.runs = prober.runs() - before;
  return out;
}

std::string sentence(const Boundary& b) {
  const std::string name = b.calls.empty() ? b.dim : fmt::format("{} ({})", b.dim, b.calls);
  if (b.base.counts.judged() == 0) return "Unknown: no run was judged.";
  if (b.base.answer != Answer::fails) return fmt::format("{}.", why_it_cannot_be_bisected(b.base));
  const std::string open = open_values(b) + background_text(b.background);
  if (!b.rule && b.complete)
    return fmt::format("No simple rule for {}: see the samples{}.", name, open);
  if (!b.rule)
    return fmt::format("no rule for {} so far: fails with {}, {} {}{}.", name,
                       samples_with(b, Answer::fails), ends_with(!b.background.empty()),
                       samples_with(b, Answer::passes), open);
  std::string out = (b.complete ? "" : "so far: ") + conditions(b) + b.rule->text(name);
  const auto beside = [&](const DimSample* passing, std::int64_t failing) {
    const DimSample* other = b.sample(failing);
    if (passing == nullptr || other == nullptr) return;
    out += fmt::format("; {} {} ({}/{}), {} fails ({}/{})", passing->value,
                       passing->probe.answer_text(), passing->probe.counts.same,
                       passing->probe.counts.judged(), failing, other->probe.counts.same,
                       other->probe.counts.judged());
  };
  const DimSample* before = nullptr;
  const DimSample* after = nullptr;
  for (const auto& s : b.samples) {
    if (s.probe.answer != Answer::passes) continue;
    if (b.rule->least && s.value < *b.rule->least) before = &s;
    if (b.rule->most && s.value > *b.rule->most && after == nullptr) after = &s;
  }
  if (b.rule->least) beside(before, *b.rule->least);
  if (b.rule->most) beside(after, *b.rule->most);
  if (!b.only_this_data.empty())
    out += fmt::format("; with other data {} also fails", fmt::join(b.only_this_data, ", "));
  if (!b.only_this_schedule.empty())
    out +=
        fmt::format("; with another schedule {} also fails", fmt::join(b.only_this_schedule, ", "));
  return fmt::format("{}{}. {}; {} of them predicted.", out, open, tried(b), b.predicted);
}

}  // namespace redzone::bisect
