#include "campaign/reference_budget.h"

#include <algorithm>
#include <vector>

#include "core/work.h"

namespace redzone::campaign {
namespace {

// Share of the time of all trials, excluding their references.
constexpr double kShare = 0.25;

// Equal large calls: one run of the reference serves all of them.
struct LargeCall {
  const Call* call = nullptr;
  double work = 0;
  std::vector<std::uint32_t> indices;
};

// Sorted by cost, cheapest first.
std::vector<LargeCall> large_calls(const Plan& plan, std::span<const double> works) {
  std::vector<LargeCall> large;
  const auto steps = calls_of(plan);
  for (std::uint32_t i = 0; i < steps.size(); ++i) {
    if (works[i] <= ReferenceBudget::kSmallWork) continue;
    const Call& call = steps[i]->call;
    auto equal = std::find_if(large.begin(), large.end(),
                              [&](const LargeCall& other) { return *other.call == call; });
    if (equal == large.end()) equal = large.insert(equal, {&call, works[i], {}});
    equal->indices.push_back(i);
  }
  std::stable_sort(large.begin(), large.end(),
                   [](const LargeCall& a, const LargeCall& b) { return a.work < b.work; });
  return large;
}

std::vector<double> works_of(const Plan& plan, const TargetSpec& spec) {
  std::vector<double> works;
  for (const CallStep* step : calls_of(plan))
    works.push_back(work_of(spec, step->call.dims, step->call.config));
  return works;
}

bool is_sample(const CallObservation& call) {
  return call.comparison == Comparison::sampled || call.comparison == Comparison::sampled_instead;
}

void leave_out(std::vector<std::uint32_t> calls, std::span<TrialSpec> trials) {
  std::sort(calls.begin(), calls.end());
  for (TrialSpec& trial : trials)
    if (trial.reference) trial.left_out = calls;
}

}  // namespace

void leave_out_large_calls(const Plan& plan, const TargetSpec& spec, std::span<TrialSpec> trials) {
  std::vector<std::uint32_t> large;
  const auto works = works_of(plan, spec);
  for (std::uint32_t i = 0; i < works.size(); ++i)
    if (works[i] > ReferenceBudget::kSmallWork) large.push_back(i);
  leave_out(std::move(large), trials);
}

double ReferenceBudget::Reserved::in_all() const {
  double all = work;
  for (const double w : works)
    if (w <= kSmallWork) all += w;
  return all;
}

ReferenceBudget::ReferenceBudget(std::chrono::milliseconds most)
    : most_us_(std::chrono::duration<double, std::micro>(most).count()) {}

ReferenceBudget::Reserved ReferenceBudget::reserve(const Plan& plan, const TargetSpec& spec,
                                                   std::span<TrialSpec> trials) {
  Reserved reserved;
  const auto comparing = static_cast<double>(std::count_if(
      trials.begin(), trials.end(), [](const TrialSpec& trial) { return trial.reference; }));
  if (!spec.has_reference || comparing == 0) return reserved;
  reserved.works = works_of(plan, spec);
  std::vector<std::uint32_t> left_out;
  for (const LargeCall& large : large_calls(plan, reserved.works)) {
    const double work = large.work * comparing;
    const double us = expected_us(work);
    const bool first = !had_first_ && !reserved.first;
    // The first large call is compared at any cost: before that the estimate is a guess.
    const bool affordable =
        expected_us(large.work) <= most_us_ && reserved.us + us <= allowance_us_;
    if (!is_always_sampled(spec, large.work) && (first || affordable)) {
      reserved.us += us;
      reserved.work += work;
      reserved.first = reserved.first || first;
    } else {
      left_out.insert(left_out.end(), large.indices.begin(), large.indices.end());
    }
  }
  if (spec.sampled_rows > 0)
    reserve_samples(left_out.size() * static_cast<std::size_t>(comparing), reserved, trials);
  leave_out(std::move(left_out), trials);
  had_first_ = had_first_ || reserved.first;
  allowance_us_ -= reserved.us;
  return reserved;
}

void ReferenceBudget::reserve_samples(std::size_t calls, Reserved& reserved,
                                      std::span<TrialSpec> trials) {
  if (calls == 0 || sampled_calls_ == 0) return;
  const double us = static_cast<double>(calls) * sampled_us_ / sampled_calls_;
  if (reserved.us + us <= allowance_us_) {
    reserved.us += us;
    return;
  }
  for (TrialSpec& trial : trials) trial.samples = false;
}

void ReferenceBudget::measure(double work, double us) {
  measured_work_ += work;
  measured_us_ += us;
}

void ReferenceBudget::settle(const Reserved& reserved, std::span<const Observation> observations) {
  bool compared = false;
  allowance_us_ += reserved.us;
  for (const Observation& o : observations) {
    double references_us = 0;
    for (const CallObservation& call : o.calls) {
      const auto index = static_cast<std::size_t>(call.call);
      if (call.reference_us == 0 || index >= reserved.works.size()) continue;
      const double work = reserved.works[index];
      const auto us = static_cast<double>(call.reference_us);
      references_us += us;
      if (is_sample(call)) {  // a sample is no measure of whole references
        sampled_us_ += us;
        sampled_calls_ += 1;
        allowance_us_ -= us;
        continue;
      }
      measure(work, us);
      if (work <= kSmallWork) continue;
      compared = true;
      allowance_us_ -= us;
    }
    const auto wall_us = static_cast<double>(o.wall_us);
    allowance_us_ += kShare * std::max(wall_us - references_us, 0.0);
    // A reference that did not finish is not retried at once.
    const bool ended_early = o.end == End::worker_error || o.end == End::spec_error;
    if (!ended_early || reserved.work == 0) continue;
    compared = true;
    measure(reserved.work, wall_us);
  }
  if (reserved.first && !compared) had_first_ = false;
}

}  // namespace redzone::campaign
