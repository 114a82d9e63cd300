#include "bisect/choices.h"

#include <algorithm>
#include <bit>

#include "bisect/decision.h"

namespace redzone::bisect {
namespace {

// Makes runs until each question is decided, within the budget.
class Asking {
 public:
  explicit Asking(const ProbeBudget& budget) : budget_(budget) {}

  bool ended() const {
    return runs_ >= budget_.runs || std::chrono::steady_clock::now() >= budget_.until ||
           (budget_.stop && budget_.stop());
  }
  std::int64_t runs() const { return runs_; }

  using Make = std::function<Counts(std::int64_t times)>;
  void set_rates(const statistics::Rates& rates) { rates_ = rates; }
  Probe calibrate(const Make& make, double miss) {
    const Counts counts = count(make, [&](const Counts& so_far) {
      return calibration_runs(so_far, budget_.runs_of_a_plan);
    });
    if (counts.same > 0) rates_ = statistics::rates_for(counts.same, counts.judged(), miss);
    return {base_answer(counts), counts};
  }
  Probe ask(const Make& make) {
    const Counts counts = count(make, [&](const Counts& so_far) {
      return wanted_runs(so_far, rates_, budget_.runs_of_a_plan);
    });
    return {answer_of(counts, rates_), counts};
  }

 private:
  template <class Wanted>
  Counts count(const Make& make, Wanted wanted) {
    Counts counts;
    while (!ended()) {
      const std::int64_t times = std::min(wanted(counts), budget_.runs - runs_);
      if (times < 1) break;
      counts.add(make(times));
      runs_ += times;
    }
    return counts;
  }

  const ProbeBudget& budget_;
  statistics::Rates rates_;
  std::int64_t runs_ = 0;
};

bool ends_failure(Answer answer) {
  return answer == Answer::passes || answer == Answer::differs;
}

}  // namespace

Relevance ChoiceRow::relevance() const {
  const auto is_so = [](Answer answer) {
    return [answer](const TriedChoice& t) { return t.probe.answer == answer; };
  };
  if (std::any_of(tried.begin(), tried.end(),
                  [](const TriedChoice& t) { return ends_failure(t.probe.answer); }))
    return Relevance::necessary;
  return !tried.empty() && std::all_of(tried.begin(), tried.end(), is_so(Answer::fails))
             ? Relevance::irrelevant
             : Relevance::unknown;
}

ChoiceBisection bisect_choices(std::span<const Choice> choices, const RunChanged& run,
                               const ProbeBudget& budget, double error) {
  ChoiceBisection out;
  Asking runs(budget);
  const auto with = [&](std::span<const Changed> changes) {
    return [&run, changes](std::int64_t times) { return run(changes, times); };
  };
  std::size_t questions = 1;  // the first: all settings together
  for (const auto& choice : choices) questions += choice.others.size();
  out.base = runs.calibrate(with({}), error / static_cast<double>(questions));
  if (out.base.answer == Answer::fails) {
    std::vector<Changed> irrelevant;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      ChoiceRow& row = out.rows.emplace_back(ChoiceRow{choices[i].name, choices[i].value, {}});
      for (std::size_t other = 0; other < choices[i].others.size(); ++other) {
        const Changed changed{i, other};
        row.tried.push_back({choices[i].others[other], runs.ask(with(std::span(&changed, 1)))});
      }
      if (row.relevance() == Relevance::irrelevant) irrelevant.push_back({i, 0});
    }
    if (irrelevant.size() > 1) out.together = runs.ask(with(irrelevant));
  }
  out.complete = !runs.ended();
  out.runs = runs.runs();
  return out;
}

NarrowedRange narrowed(std::uint64_t n, const Counts& base, const RunRange& run,
                       const ProbeBudget& budget, double error) {
  const auto questions = 2 * std::max(1, static_cast<int>(std::bit_width(n)));
  Asking runs(budget);
  runs.set_rates(statistics::rates_for(base.same, base.judged(), error / questions));
  NarrowedRange out{1, n, false};
  const auto answer = [&](std::uint64_t first, std::uint64_t last) {
    return runs.ask([&](std::int64_t times) { return run(first, last, times); }).answer;
  };
  while (out.first < out.last) {
    const std::uint64_t middle = out.first + (out.last - out.first) / 2;
    const Answer lower = answer(out.first, middle);
    if (lower == Answer::fails) {
      out.last = middle;
      continue;
    }
    const Answer upper = answer(middle + 1, out.last);
    if (upper != Answer::fails) {
      out.decided = ends_failure(lower) && ends_failure(upper);
      return out;
    }
    out.first = middle + 1;
  }
  out.decided = true;
  return out;
}

}  // namespace redzone::bisect
