// Says of plans whether they fail as the finding does, with as many runs as that takes.
//
// Each plan is run until Wald's test has decided (statistics/sequential_test.h) or the budget has
// ended. All runs of a plan are remembered by its hash, those of earlier bisections too, so that
// what was interrupted goes on where it stopped and no plan is run for the same answer twice.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "bisect/runner.h"
#include "core/enum_names.h"
#include "core/error.h"
#include "statistics/sequential_test.h"

namespace redzone::bisect {

enum class Answer : std::uint8_t {
  fails,      // with the signature that is looked for
  passes,     // or fails so seldom that it is another matter; the counts tell
  differs,    // does not fail so, but with another signature
  undecided,  // the budget ended
  unjudged,   // no run could be judged
};

constexpr auto enum_table(Answer) {
  return enum_names<Answer>("answer", {{Answer::fails, "fails"},
                                       {Answer::passes, "passes"},
                                       {Answer::differs, "fails otherwise"},
                                       {Answer::undecided, "undecided"},
                                       {Answer::unjudged, "not judged"}});
}

struct Probe {
  Answer answer = Answer::undecided;
  Counts counts;
};

struct ProbeBudget {
  std::int64_t runs = 50000;           // in all, those that were remembered not counted
  std::int64_t runs_of_a_plan = 1500;  // those that were remembered counted
  std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
  std::function<bool()> stop = {};  // true ends it early
};

// Runs by plan hash.
using Memory = std::map<std::string, Counts>;
// Told of the runs that were just made of a plan.
using Record = std::function<Result<void>(const Plan& plan, const Counts& runs)>;

class Prober {
 public:
  // Borrows `runner`. `record`: empty to keep nothing.
  Prober(Runner& runner, ProbeBudget budget, Memory memory = {}, Record record = {});

  // Runs `plan`, which is to be the failing one, until its rate of failure is known well enough to
  // test others by: the lower end of its interval is at least half of the rate that was seen. Sets
  // the rates; `miss` is the chance with which any one plan that fails as often is taken for one
  // that passes.
  Probe calibrate(const Plan& plan, double miss);
  void set_rates(const statistics::Rates& rates) { rates_ = rates; }
  const statistics::Rates& rates() const { return rates_; }

  // In the order of the plans, which may hold the same plan twice.
  std::vector<Probe> ask(std::span<const Plan> plans);
  Probe ask(const Plan& plan);

  std::int64_t runs() const { return runs_; }
  // What is known of `plan`, without running it.
  Probe known(const Plan& plan) const;
  // The budget has ended, so that answers may be missing.
  bool ended() const;
  // Set when runs could not be recorded; then the budget has ended, too.
  const Result<void>& problem() const { return problem_; }

 private:
  struct Open {
    const Plan* plan;
    std::string hash;
  };
  Answer answer_of(const Counts& counts) const;
  // How often to run it now; 0: no more.
  std::int64_t wanted(const Counts& counts) const;
  void run(std::span<const Open> plans);

  Runner& runner_;
  ProbeBudget budget_;
  Memory memory_;
  Record record_;
  statistics::Rates rates_;
  std::int64_t runs_ = 0;
  Result<void> problem_;
};

}  // namespace redzone::bisect
