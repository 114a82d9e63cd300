// How much of a campaign's time the references of large calls may take, for one target.
//
// A reference runs on one core of the CPU, and that of a model's shape takes seconds where the
// kernel takes microseconds. So small calls are always compared; a large one is where the time that
// was put aside pays for it. A share of all other trial time is put aside, and what a call will
// cost is learnt from what others did. The first large call does not wait: a campaign that met one
// has compared one. What is left out is said in the trial, so that a trial means the same to every
// worker.
#pragma once

#include <chrono>
#include <span>
#include <vector>

#include "core/trial.h"

namespace redzone::campaign {

class ReferenceBudget {
 public:
  // `most`: a large call, but for the first, whose reference is expected to take longer is not
  // compared.
  explicit ReferenceBudget(std::chrono::milliseconds most);

  // A call of no more scalar operations is always compared: about 0.1 s.
  static constexpr double kSmallWork = 2e7;

  // What the references of a plan's large calls are expected to take.
  struct Reserved {
    double us = 0;
    double work = 0;            // scalar operations
    bool first = false;         // with the first large call that is compared
    std::vector<double> works;  // scalar operations of each call of the plan

    // Scalar operations of all that is compared.
    double in_all() const;
  };

  // Names the calls that `trials` leave out, those of them that ask for the reference. Throws what
  // the functions of the spec throw, and has reserved nothing then. To be settled otherwise.
  Reserved reserve(const Plan& plan, const TargetSpec& spec, std::span<TrialSpec> trials);
  // What became of it; fewer observations than trials where the others were not run.
  void settle(const Reserved& reserved, std::span<const Observation> observations);

 private:
  double expected_us(double work) const { return work * measured_us_ / measured_work_; }
  void measure(double work, double us);

  double most_us_;
  double allowance_us_ = 0;
  bool had_first_ = false;
  // Of all references so far; a slow one of a millisecond stands for what is not known yet.
  double measured_work_ = 1e5, measured_us_ = 1e3;
};

}  // namespace redzone::campaign
