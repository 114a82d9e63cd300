#include "bisect/choices.h"

#include <algorithm>

#include "bisect/decision.h"

namespace redzone::bisect {
namespace {

class Bisecting {
 public:
  Bisecting(const RunChanged& run, const ProbeBudget& budget) : run_(run), budget_(budget) {}

  bool ended() const {
    return runs_ >= budget_.runs || std::chrono::steady_clock::now() >= budget_.until ||
           (budget_.stop && budget_.stop());
  }
  std::int64_t runs() const { return runs_; }

  Probe calibrate(double miss) {
    const Counts counts = count(
        {}, [&](const Counts& so_far) { return calibration_runs(so_far, budget_.runs_of_a_plan); });
    if (counts.same > 0) rates_ = statistics::rates_for(counts.same, counts.judged(), miss);
    return {base_answer(counts), counts};
  }
  Probe ask(std::span<const Changed> changes) {
    const Counts counts = count(changes, [&](const Counts& so_far) {
      return wanted_runs(so_far, rates_, budget_.runs_of_a_plan);
    });
    return {answer_of(counts, rates_), counts};
  }

 private:
  template <class Wanted>
  Counts count(std::span<const Changed> changes, Wanted wanted) {
    Counts counts;
    while (!ended()) {
      const std::int64_t times = std::min(wanted(counts), budget_.runs - runs_);
      if (times < 1) break;
      counts.add(run_(changes, times));
      runs_ += times;
    }
    return counts;
  }

  const RunChanged& run_;
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
  Bisecting bisecting(run, budget);
  std::size_t questions = 1;  // the settings together
  for (const auto& choice : choices) questions += choice.others.size();
  out.base = bisecting.calibrate(error / static_cast<double>(questions));
  if (out.base.answer == Answer::fails) {
    std::vector<Changed> irrelevant;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      ChoiceRow& row = out.rows.emplace_back(ChoiceRow{choices[i].name, choices[i].value, {}});
      for (std::size_t other = 0; other < choices[i].others.size(); ++other) {
        const Changed changed{i, other};
        row.tried.push_back({choices[i].others[other], bisecting.ask(std::span(&changed, 1))});
      }
      if (row.relevance() == Relevance::irrelevant) irrelevant.push_back({i, 0});
    }
    if (irrelevant.size() > 1) out.together = bisecting.ask(irrelevant);
  }
  out.complete = !bisecting.ended();
  out.runs = bisecting.runs();
  return out;
}

std::pair<std::uint64_t, std::uint64_t> narrowed(
    std::uint64_t n, const std::function<bool(std::uint64_t, std::uint64_t)>& fails) {
  std::uint64_t first = 1, last = n;
  while (first < last) {
    const std::uint64_t middle = first + (last - first) / 2;
    if (fails(first, middle))
      last = middle;
    else if (fails(middle + 1, last))
      first = middle + 1;
    else
      break;
  }
  return {first, last};
}

}  // namespace redzone::bisect
