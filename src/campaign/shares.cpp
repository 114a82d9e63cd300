#include "campaign/shares.h"

#include <algorithm>
#include <cmath>

namespace redzone::campaign {
namespace {

constexpr double kFading = 0.8;    // weight of a night, relative to the next
constexpr double kEvenPart = 0.5;  // share of the whole time
constexpr double kBonusPerNightWaited = 0.25;
constexpr int kMostNightsWaited = 7;  // nights

struct Sum {
  double findings = 0, seconds = 0;
  int waited = 0;  // nights without time, up to kMostNightsWaited
};

Sum sum(const TargetPast& past) {
  Sum sum;
  double weight = 1;
  bool waiting = true;
  for (const auto& night : past) {
    sum.findings += weight * night.findings;
    sum.seconds += weight * night.device_seconds;
    weight *= kFading;
    waiting = waiting && night.device_seconds <= 0;
    if (waiting) sum.waited = std::min(sum.waited + 1, kMostNightsWaited);
  }
  if (past.empty()) sum.waited = kMostNightsWaited;
  return sum;
}

}  // namespace

std::vector<double> fuzz_shares(std::span<const TargetPast> targets) {
  const auto n = static_cast<double>(targets.size());
  std::vector<Sum> sums;
  double seconds = 0;
  for (const auto& past : targets) seconds += sums.emplace_back(sum(past)).seconds;
  std::vector<double> shares;
  double all = 0;
  for (const auto& s : sums) {
    // Use multiples of an even share of time, so that the length of nights does not matter.
    const double time = seconds > 0 ? s.seconds / seconds * n : 1;
    shares.push_back((s.findings + 1) / (time + 1) * (1 + kBonusPerNightWaited * s.waited));
    all += shares.back();
  }
  for (double& share : shares) share = kEvenPart / n + (1 - kEvenPart) * share / all;
  return shares;
}

}  // namespace redzone::campaign
