// Limits the share of a campaign's time that the references of large calls take, for one target.
//
// A reference runs on one CPU core and may take seconds for a model's shape where the kernel takes
// microseconds. So small calls are always compared, and large calls only if the time set aside pays
// for them. A share of all other trial time is set aside; the cost of a call is estimated from
// earlier ones. The first large call does not wait, so a campaign that meets large calls compares
// at least one. The trial lists the calls that are left out, so that every worker runs the trial in
// the same way. Samples of rows of these calls are paid from the same share; the first sample is
// always taken.
#pragma once

#include <chrono>
#include <span>
#include <vector>

#include "core/trial.h"

namespace redzone::campaign {

// Leaves the references of all large calls out of the trials, as in the workers of a campaign's
// screen if other workers make those comparisons. Throws what the functions of the spec throw.
void leave_out_large_calls(const Plan& plan, const TargetSpec& spec, std::span<TrialSpec> trials);

class ReferenceBudget {
 public:
  // `most`: a large call other than the first is not compared if its reference is expected to take
  // longer.
  explicit ReferenceBudget(std::chrono::milliseconds most);

  // Calls with at most this many scalar operations (about 0.1 s) are always compared.
  static constexpr double kSmallWork = 2e7;

  // Expected cost of the references of a plan's large calls.
  struct Reserved {
    double us = 0;
    double work = 0;            // scalar operations
    bool first = false;         // includes the first large call that is compared
    std::vector<double> works;  // scalar operations of each call of the plan

    // Scalar operations of all compared calls.
    double in_all() const;
  };

  // Sets in `trials` which calls are not compared, for those trials that run the reference. Throws
  // what the functions of the spec throw, without reserving anything. Every reservation must be
  // settled.
  Reserved reserve(const Plan& plan, const TargetSpec& spec, std::span<TrialSpec> trials);
  // Records the actual cost. There are fewer observations than trials if not all trials were run.
  void settle(const Reserved& reserved, std::span<const Observation> observations);

 private:
  // Reserves the samples of the calls that are left out, or switches them off.
  void reserve_samples(std::size_t calls, Reserved& reserved, std::span<TrialSpec> trials);
  double expected_us(double work) const { return work * measured_us_ / measured_work_; }
  void measure(double work, double us);

  double most_us_;
  double allowance_us_ = 0;
  bool had_first_ = false;
  double sampled_us_ = 0;  // total of all samples so far
  double sampled_calls_ = 0;
  // Totals of all references so far. The initial values are an estimate: a slow reference of a
  // millisecond.
  double measured_work_ = 1e5, measured_us_ = 1e3;
};

}  // namespace redzone::campaign
