// Asks an oracle about plans. Each trial runs in a worker that has run nothing before: what a
// target keeps in C++ statics outlives a trial, and would hide the difference between two of them.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/oracle.h"
#include "exec/executor.h"

namespace redzone::campaign {

struct Question {
  const Oracle* oracle = nullptr;
  Plan plan;
};

// A failure, and the plan that shows it when it is run as written.
struct Alarm {
  Verdict verdict;
  Plan plan;
};

struct Answer {
  Verdict verdict;  // of the oracle that was asked
  std::vector<TrialSpec> trials;
  std::vector<Observation> observations;  // one for each trial
  // What a single trial shows by itself, such as a fault, where the oracle that was asked has no
  // verdict on that.
  std::optional<Alarm> alarm = {};
};

class Evaluator {
 public:
  // Once `stop` is true, what is asked ends at once: what was not run is a harness error.
  Evaluator(exec::Runner& runner, const TargetSpec& spec, std::chrono::milliseconds deadline,
            std::function<bool()> stop = {})
      : runner_(runner), spec_(spec), deadline_(deadline), stop_(std::move(stop)) {}

  // In the order of the questions; several run at a time. Oracles that want the same trial of the
  // same plan share it; the same question asked twice is run twice.
  std::vector<Answer> ask(std::span<const Question> questions);
  Answer ask(const Oracle& oracle, const Plan& plan);

  const TargetSpec& spec() const { return spec_; }
  // Run so far, for all questions.
  std::int64_t trials() const { return trials_; }
  void set_deadline(std::chrono::milliseconds deadline) { deadline_ = deadline; }
  // From then on what is asked ends at once, as with `stop`.
  void set_until(std::chrono::steady_clock::time_point until) { until_ = until; }
  // Whether what was asked last may have been ended.
  bool stopped() const { return (stop_ && stop_()) || std::chrono::steady_clock::now() >= until_; }
  // Used workers will do: see exec::Job::reuse.
  void set_reuse(bool reuse) { reuse_ = reuse; }
  // The trials of one question share a worker: saves workers where they are slow to start, and may
  // hide a difference that comes from a static.
  void set_grouped(bool grouped) { grouped_ = grouped; }
  // See exec::RunOptions::alone.
  void set_alone(bool alone) { alone_ = alone; }

 private:
  exec::Runner& runner_;
  const TargetSpec& spec_;
  std::chrono::milliseconds deadline_;
  std::function<bool()> stop_;
  std::chrono::steady_clock::time_point until_ = std::chrono::steady_clock::time_point::max();
  bool reuse_ = false;
  bool grouped_ = false;
  bool alone_ = false;
  std::int64_t trials_ = 0;
};

}  // namespace redzone::campaign
