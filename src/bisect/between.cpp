#include "bisect/between.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bisect/smallest_set.h"
#include "core/mode_axes.h"
#include "core/plan_text.h"
#include "core/validate.h"

namespace redzone::bisect {
namespace {

struct Difference {
  std::string text, before;  // "D = 2", "D = 1"
  std::function<void(Plan&)> apply;
};

CallStep* call_in(Plan& plan, std::size_t step) {
  return std::get_if<CallStep>(&plan.steps[step]);
}
const CallStep* call_in(const Plan& plan, std::size_t step) {
  return std::get_if<CallStep>(&plan.steps[step]);
}

class Differences {
 public:
  Differences(const Plan& failing, const Plan& passing) : from_(failing), to_(passing) {}

  std::vector<Difference> all(const TargetSpec& spec) {
    for (const auto& knob : spec.knobs) add_knob(knob.name);
    int call = 0;
    for (std::size_t i = 0; i < from_.steps.size(); ++i)
      if (call_in(from_, i) != nullptr) add_call(i, ++call, spec);
    add_mode();
    return std::move(out_);
  }

 private:
  void add(const std::string& name, const std::string& before, const std::string& after,
           std::function<void(Plan&)> apply) {
    out_.push_back({fmt::format("{} = {}", name, after), fmt::format("{} = {}", name, before),
                    std::move(apply)});
  }

  void add_knob(const std::string& name) {
    std::map<std::size_t, Value> values;
    std::vector<std::string> before, after;
    for (std::size_t i = 0; i < from_.steps.size(); ++i) {
      const CallStep* a = call_in(from_, i);
      if (a == nullptr) continue;
      const Value &x = a->call.config.at(name), &y = call_in(to_, i)->call.config.at(name);
      if (x == y) continue;
      values.emplace(i, y);
      if (before.empty() || before.back() != print_value(x)) before.push_back(print_value(x));
      if (after.empty() || after.back() != print_value(y)) after.push_back(print_value(y));
    }
    if (values.empty()) return;
    add(name, fmt::format("{}", fmt::join(before, ", ")), fmt::format("{}", fmt::join(after, ", ")),
        [values, name](Plan& p) {
          for (const auto& [step, value] : values) call_in(p, step)->call.config[name] = value;
        });
  }

  void add_call(std::size_t step, int number, const TargetSpec& spec) {
    const Call &a = call_in(from_, step)->call, &b = call_in(to_, step)->call;
    const std::string call = fmt::format("call {}: ", number);
    for (const auto& dim : spec.dims) {
      const auto x = get(a.dims, dim.name), y = get(b.dims, dim.name);
      if (x != y)
        add(call + dim.name, std::to_string(x), std::to_string(y),
            [step, name = dim.name, y](Plan& p) { call_in(p, step)->call.dims[name] = y; });
    }
    for (const auto& tensor : spec.tensors)
      if (const Layout& y = b.layout(tensor.name); y != a.layout(tensor.name))
        add(call + tensor.name + " layout", "failing", "passing",
            [step, name = tensor.name, y](Plan& p) { call_in(p, step)->call.layouts[name] = y; });
    if (a.seed != b.seed)
      add(call + "seed", std::to_string(a.seed), std::to_string(b.seed),
          [step, seed = b.seed](Plan& p) { call_in(p, step)->call.seed = seed; });
    const auto repeat = call_in(to_, step)->repeat;
    if (call_in(from_, step)->repeat != repeat)
      add(call + "repeat", std::to_string(call_in(from_, step)->repeat), std::to_string(repeat),
          [step, repeat](Plan& p) { call_in(p, step)->repeat = repeat; });
  }

  void add_mode() {
    for (const auto& axis : all_mode_axes()) {
      if (axis.take == nullptr) continue;
      const std::string before = axis.value(from_), after = axis.value(to_);
      if (before != after)
        add(std::string(axis.name), before, after,
            [take = axis.take, mode = to_.mode](Plan& p) { take(p.mode, mode); });
    }
  }

  const Plan &from_, &to_;
  std::vector<Difference> out_;
};

bool same_steps(const Plan& a, const Plan& b) {
  if (a.steps.size() != b.steps.size()) return false;
  for (std::size_t i = 0; i < a.steps.size(); ++i)
    if (a.steps[i].index() != b.steps[i].index()) return false;
  return true;
}

}  // namespace

Result<Between> bisect_between(const Plan& failing, const Plan& passing, const TargetSpec& spec,
                               Prober& prober, double error) {
  if (!same_steps(failing, passing))
    return usage_error(
        "the passing plan must have the same steps as the failing one; only settings may differ");
  const auto differences = Differences(failing, passing).all(spec);
  if (differences.empty()) return usage_error("the two plans do not differ in any setting");
  Between out;
  for (const auto& d : differences) out.differences.push_back(d.text);
  const auto with = [&](const Subset& subset) -> std::optional<Plan> {
    Plan plan = failing;
    for (const auto i : subset) differences[i].apply(plan);
    if (!validate(plan, spec)) return std::nullopt;
    return plan;
  };
  const std::size_t n = differences.size();
  const std::int64_t before = prober.runs();
  out.failing = prober.calibrate(failing, error / static_cast<double>(2 * n * n + 4));
  const auto answer = [&](const Subset& changed) {
    const auto plan = with(changed);
    return plan ? prober.ask(*plan).answer : Answer::unjudged;
  };
  if (out.failing.answer == Answer::fails) out.passing = prober.ask(passing);
  if (out.passing.answer == Answer::passes && answer(complement(n, {})) == Answer::passes) {
    const auto described = [&](const Subset& changed, const Subset& named, bool as_passing) {
      ChangeSet set;
      for (const auto i : named)
        set.settings.push_back(as_passing ? differences[i].text : differences[i].before);
      set.plan = *with(changed);
      set.probe = prober.ask(set.plan);
      return set;
    };
    const auto go =
        smallest_set(n, [&](const Subset& set) { return answer(set) == Answer::passes; });
    out.go = described(go, go, true);
    const auto come = smallest_set(
        n, [&](const Subset& set) { return answer(complement(n, set)) == Answer::fails; });
    out.come = described(complement(n, come), come, false);
  }
  out.complete = !prober.ended();
  out.runs = prober.runs() - before;
  return out;
}

std::string sentence(const Between& b) {
  if (b.failing.answer != Answer::fails)
    return fmt::format("{}.", why_it_cannot_be_bisected(b.failing));
  if (!b.go || !b.come)
    return fmt::format("The other plan does not pass: it {} ({} of {} runs).",
                       name_of(b.passing.answer), b.passing.counts.same, b.passing.counts.judged());
  return fmt::format(
      "Of {} differences, setting {} is enough to make it pass; setting {} makes it fail again.",
      b.differences.size(), fmt::join(b.go->settings, ", "), fmt::join(b.come->settings, ", "));
}

}  // namespace redzone::bisect
