#include "bisect/decision.h"

#include <algorithm>

#include "statistics/interval.h"

namespace redzone::bisect {
namespace {

// Number of consecutive unjudged runs at the start after which a plan counts as not judged.
constexpr std::int64_t kMostUnjudged = 4;
// Runs to learn the rate of a failure that shows in every run; the lower end of its interval is
// then 0.6.
constexpr std::int64_t kCalibration = 6;
// Number of runs that all fail in another way after which that failure is assumed to hide the
// expected one.
constexpr std::int64_t kMostOtherwise = 30;

bool is_given_up(const Counts& counts) {
  return counts.judged() == 0 && counts.unjudged >= kMostUnjudged;
}

bool always_fails_otherwise(const Counts& counts) {
  return counts.other >= kMostOtherwise && counts.other == counts.judged();
}

bool rate_is_known(const Counts& counts) {
  const std::int64_t n = counts.judged();
  if (n < kCalibration || counts.same == 0) return false;
  const double seen = static_cast<double>(counts.same) / static_cast<double>(n);
  return statistics::exact_interval(counts.same, n, 0.9).low >= seen / 2;
}

// True if failures of any signature are as frequent as the expected failure would be.
bool fails_in_any_way(const Counts& counts, const statistics::Rates& rates) {
  const statistics::SequentialTest test(rates, counts.same + counts.other, counts.judged());
  return counts.other > 0 && test.decision() != statistics::Decision::passes;
}

}  // namespace

Answer answer_of(const Counts& counts, const statistics::Rates& rates) {
  const statistics::SequentialTest test(rates, counts.same, counts.judged());
  switch (test.decision()) {
    case statistics::Decision::fails:
      return Answer::fails;
    case statistics::Decision::passes:
      return fails_in_any_way(counts, rates) ? Answer::differs : Answer::passes;
    case statistics::Decision::open:
      break;
  }
  return is_given_up(counts) ? Answer::unjudged : Answer::undecided;
}

std::int64_t wanted_runs(const Counts& counts, const statistics::Rates& rates, std::int64_t most) {
  if (answer_of(counts, rates) != Answer::undecided || counts.runs() >= most) return 0;
  if (counts.runs() == 0) return 1;
  // At most double the total each time: frequent failures are decided by few runs, and passes in
  // few rounds.
  const statistics::SequentialTest test(rates, counts.same, counts.judged());
  return std::clamp<std::int64_t>(test.passes_to_go(), 1,
                                  std::min(counts.runs(), most - counts.runs()));
}

std::int64_t calibration_runs(const Counts& counts, std::int64_t most) {
  if (rate_is_known(counts) || always_fails_otherwise(counts) || is_given_up(counts) ||
      counts.runs() >= most)
    return 0;
  return std::min(std::max(kCalibration - counts.runs(), (counts.runs() + 3) / 4),
                  most - counts.runs());
}

Answer base_answer(const Counts& counts) {
  if (counts.same > 0) return Answer::fails;
  if (counts.judged() == 0) return Answer::unjudged;
  return counts.other > 0 ? Answer::differs : Answer::passes;
}

}  // namespace redzone::bisect
