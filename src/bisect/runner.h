// Runs plans and returns the outcome of each run. The bisection uses only this interface.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/plan.h"
#include "core/run_result.h"

namespace redzone::bisect {

// Outcomes of the runs of one plan.
struct Counts {
  std::int64_t same = 0;      // failed with the expected signature
  std::int64_t other = 0;     // failed with another signature
  std::int64_t passed = 0;    // judged without a failure
  std::int64_t unjudged = 0;  // inconclusive, not applicable, harness errors
  // The reason of the last run that was `other` or `unjudged`, or the signature of the last run
  // counted in `same_otherwise`.
  std::string said = {};
  std::int64_t errors = 0;  // harness errors among the unjudged runs of this process
  // Runs in `same` that showed the same bug with another signature than recorded, such as a write
  // seen in a canary instead of as a fault.
  std::int64_t same_otherwise = 0;
  bool others_differ = false;  // the `other` runs are known to have failed in several ways

  std::int64_t judged() const { return same + other + passed; }
  // The signature of the failures if every run showed the bug with another signature than recorded;
  // else "".
  std::string shown_as() const {
    return same_otherwise > 0 && same_otherwise == runs() ? said : std::string{};
  }
  std::int64_t runs() const { return judged() + unjudged; }
  // The common signature of all `other` runs; "" if there are none, if their signatures differ, or
  // if other kinds of runs make `said` ambiguous.
  std::string only_other() const {
    const bool is_theirs = other > 0 && unjudged == 0 && same_otherwise == 0 && !others_differ;
    return is_theirs ? said : std::string{};
  }
  void add(const Counts& more) {
    others_differ = others_differ || more.others_differ ||
                    (other > 0 && more.other > 0 && only_other() != more.only_other());
    same += more.same;
    other += more.other;
    passed += more.passed;
    unjudged += more.unjudged;
    if (!more.said.empty()) said = more.said;
    errors += more.errors;
    same_otherwise += more.same_otherwise;
  }
  // The overall result by the ranking of core/run_result.h.
  RunResult result() const {
    std::vector<RunResult> runs;
    for (const auto& [number, result] :
         {std::pair{same, RunResult::recorded}, std::pair{other, RunResult::other},
          std::pair{errors, RunResult::harness_error}, std::pair{passed, RunResult::pass}})
      if (number > 0) runs.push_back(result);
    return rank_runs(runs);
  }
  bool operator==(const Counts&) const = default;
};

struct Request {
  Plan plan;
  std::int64_t times = 1;
};

class Runner {
 public:
  virtual ~Runner() = default;
  // Returns counts in the order of the requests, which may all run at the same time. An interrupted
  // run is `unjudged` or missing.
  virtual std::vector<Counts> run(std::span<const Request> requests) = 0;
};

}  // namespace redzone::bisect
