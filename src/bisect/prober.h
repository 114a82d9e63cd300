// Determines whether plans fail as the finding does, with as many runs as needed.
//
// Each plan is run until Wald's test decides (statistics/sequential_test.h) or the budget ends. All
// runs of a plan are remembered by its hash, including those of earlier bisections, so an
// interrupted bisection continues and no plan is run twice for the same answer.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bisect/runner.h"
#include "core/enum_names.h"
#include "core/error.h"
#include "statistics/sequential_test.h"

namespace redzone::bisect {

enum class Answer : std::uint8_t {
  fails,  // with the expected signature
  // Passes, or fails so rarely that another cause is likely, or ends the expected failure and shows
  // only the background failure (Prober::look_past()); see the counts.
  passes,
  differs,    // fails with another signature, as often as the expected failure would show
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

  // True if the expected failure does not show but no run passed.
  bool fails_otherwise() const {
    return answer == Answer::differs ||
           (answer == Answer::passes && counts.other > 0 && counts.passed == 0);
  }
  std::string_view answer_text() const {
    return name_of(fails_otherwise() ? Answer::differs : answer);
  }
};

// For a judged plan that was expected to fail but does not fail as recorded: "It does not fail now
// (0 of 10 runs)", "It fails otherwise now (10 of 10 runs): reference: y (t)".
std::string why_it_cannot_be_bisected(const Probe& base);

struct ProbeBudget {
  std::int64_t runs = 50000;           // in total, excluding remembered ones
  std::int64_t runs_of_a_plan = 1500;  // including remembered ones
  std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
  std::function<bool()> stop = {};  // returns true to end the bisection early
};

// Returns the signature of the background failure: the only signature among the probes that do not
// fail as expected, if there are at least two such probes, all probes are decided and no run
// passed. Otherwise returns "". The background may be a second bug that shows whatever is changed,
// or the same bug showing in two ways; the runs cannot tell which.
std::string background_of(std::span<const Probe> probes);
// The end of a sentence that mentions a background failure with this signature; "" for "".
std::string background_text(const std::string& signature);
// "passes with", or "fails otherwise with" if there is a background failure.
std::string_view ends_with(bool background);

// Runs by plan hash.
using Memory = std::map<std::string, Counts>;
// Called after each batch with the new runs of a plan.
using Record = std::function<Result<void>(const Plan& plan, const Counts& runs)>;

class Prober {
 public:
  // Borrows `runner`. `record`: empty to store nothing.
  Prober(Runner& runner, ProbeBudget budget, Memory memory = {}, Record record = {});

  // Runs the failing plan until its failure rate is known well enough to test others: the lower end
  // of the rate's interval is at least half of the observed rate. Sets the rates; `miss` is the
  // chance that a plan that fails as often is judged as passing.
  Probe calibrate(const Plan& plan, double miss);
  void set_rates(const statistics::Rates& rates) { rates_ = rates; }
  const statistics::Rates& rates() const { return rates_; }

  // Probes in the order of the plans, which may contain duplicates.
  std::vector<Probe> ask(std::span<const Plan> plans);
  Probe ask(const Plan& plan);

  // From now on, a plan that fails only with this signature counts as passing, also in results that
  // are already known.
  void look_past(std::string background) { background_ = std::move(background); }

  std::int64_t runs() const { return runs_; }
  // Returns the result known so far for `plan`, without running it.
  Probe known(const Plan& plan) const;
  // True if runs of other plans than the calibrated one are known.
  bool knows_others() const { return memory_.size() > 1; }
  // True if the budget is used up, so that answers may be missing.
  bool ended() const;
  // An error if runs could not be recorded; the bisection then ends as if the budget were used up.
  const Result<void>& problem() const { return problem_; }

 private:
  struct Open {
    const Plan* plan;
    std::string hash;
  };
  Answer answer_of(const Counts& counts) const;
  // Number of runs to make now; 0 if no more are needed.
  std::int64_t wanted(const Counts& counts) const;
  // Makes at most `at_a_time_` runs.
  void run(std::span<const Open> plans);
  std::vector<Counts> make_runs(std::span<const Request> requests);

  Runner& runner_;
  ProbeBudget budget_;
  Memory memory_;
  Record record_;
  statistics::Rates rates_;
  std::string background_ = {};
  std::int64_t runs_ = 0;
  std::int64_t at_a_time_ = 8;
  Result<void> problem_;
};

}  // namespace redzone::bisect
