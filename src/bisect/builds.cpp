#include "bisect/builds.h"

#include <algorithm>
#include <cmath>

namespace redzone::bisect {
namespace {

bool is_bad(const BuildProbe& p) {
  return p.skipped.empty() && p.probe.answer == Answer::fails;
}
bool is_good(const BuildProbe& p) {
  return p.skipped.empty() && p.probe.answer == Answer::passes;
}

// The probability of each build to be the first bad one, with a uniform prior; the last entry is
// the probability that no build is bad.
std::vector<double> posterior(std::size_t n, const std::vector<BuildStep>& path,
                              const statistics::Rates& rates) {
  std::vector<double> log_chance(n + 1, 0);
  for (const auto& step : path) {
    // A build that fails in another way gives no information about the recorded failure.
    if (!is_bad(step.answer) && !is_good(step.answer)) continue;
    const auto& counts = step.answer.probe.counts;
    const statistics::SequentialTest seen(rates, counts.same, counts.judged());
    for (std::size_t first = 0; first <= std::min(n, step.build); ++first)
      log_chance[first] += seen.log_ratio();
  }
  const double most = *std::max_element(log_chance.begin(), log_chance.end());
  double sum = 0;
  for (auto& chance : log_chance) sum += chance = std::exp(chance - most);
  for (auto& chance : log_chance) chance /= sum;
  return log_chance;
}

class Builds {
 public:
  Builds(std::size_t n, const std::function<BuildProbe(std::size_t)>& try_build,
         const std::function<statistics::Rates()>& rates)
      : try_build_(try_build), rates_(rates), tried_(n) {}

  FirstBad run() {
    if (tried_.empty()) return std::move(out_);
    // If a build at an end cannot be tried, its neighbour is tried.
    for (std::size_t i = tried_.size(); i-- > 0 && !out_.first_bad;) {
      const auto& answer = ask(i);
      if (is_bad(answer)) out_.first_bad = i;
      if (is_good(answer)) return std::move(out_);
    }
    if (!out_.first_bad) return std::move(out_);
    for (std::size_t i = 0; i < *out_.first_bad && !out_.last_good; ++i) {
      const auto& answer = ask(i);
      if (is_good(answer)) out_.last_good = i;
      if (is_bad(answer)) out_.first_bad = i;
    }
    while (out_.last_good && *out_.last_good + 1 < *out_.first_bad)
      if (!step()) break;
    if (out_.last_good)
      for (auto i = *out_.last_good + 1; i < *out_.first_bad; ++i) out_.between.push_back(i);
    finish();
    return std::move(out_);
  }

 private:
  const BuildProbe& ask(std::size_t build) {
    if (!tried_[build]) {
      tried_[build] = try_build_(build);
      out_.path.push_back({build, *tried_[build], 0, 0});
      const auto chances = posterior(tried_.size(), out_.path, rates_());
      const auto likely = std::max_element(chances.begin(), chances.end());
      out_.path.back().likely = static_cast<std::size_t>(likely - chances.begin());
      out_.path.back().confidence = *likely;
    }
    return *tried_[build];
  }

  // Tries the untried build nearest to the middle; false if there is none.
  bool step() {
    const std::size_t low = *out_.last_good, high = *out_.first_bad;
    std::vector<std::size_t> open;
    for (auto i = low + 1; i < high; ++i)
      if (!tried_[i]) open.push_back(i);
    if (open.empty()) return false;
    const std::size_t middle = (low + high) / 2;
    const auto distance = [&](std::size_t i) { return i > middle ? i - middle : middle - i; };
    const auto nearest = *std::min_element(
        open.begin(), open.end(), [&](auto a, auto b) { return distance(a) < distance(b); });
    const auto& answer = ask(nearest);
    if (is_bad(answer)) out_.first_bad = nearest;
    if (is_good(answer)) out_.last_good = nearest;
    return true;
  }

  // Any build that gave no answer may be the first bad one, so their probabilities are summed.
  void finish() {
    const auto chances = posterior(tried_.size(), out_.path, rates_());
    const std::size_t from = out_.last_good ? *out_.last_good + 1 : 0;
    for (auto i = from; i <= *out_.first_bad; ++i) out_.confidence += chances[i];
  }

  const std::function<BuildProbe(std::size_t)>& try_build_;
  const std::function<statistics::Rates()>& rates_;
  std::vector<std::optional<BuildProbe>> tried_;
  FirstBad out_;
};

}  // namespace

const BuildStep* FirstBad::differing() const {
  const BuildStep* latest = nullptr;
  for (const auto& step : path)
    if (step.answer.skipped.empty() && step.answer.probe.answer == Answer::differs &&
        (latest == nullptr || step.build > latest->build))
      latest = &step;
  return latest;
}

FirstBad find_first_bad(std::size_t n, const std::function<BuildProbe(std::size_t)>& try_build,
                        const std::function<statistics::Rates()>& rates) {
  return Builds(n, try_build, rates).run();
}

}  // namespace redzone::bisect
