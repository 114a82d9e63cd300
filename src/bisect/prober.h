// Determines whether plans fail as the finding does, with as many runs as needed.
//
// Each plan is run until Wald's test decides (statistics/sequential_test.h) or the budget ends. All
// runs of a plan are remembered by its hash, including those of earlier bisections, so that an
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
  // Or fails so rarely that another cause is likely, or ends the expected failure and shows the
  // background alone (Prober::look_past()); see the counts.
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

  // Ends the expected failure, but no run passed.
  bool fails_otherwise() const {
    return answer == Answer::differs ||
           (answer == Answer::passes && counts.other > 0 && counts.passed == 0);
  }
  std::string_view answer_text() const {
    return name_of(fails_otherwise() ? Answer::differs : answer);
  }
};

// Of a judged plan that was to fail, and does not as recorded: "It does not fail now (0 of 10
// runs)", "It fails otherwise now (10 of 10 runs): reference: y (t)".
std::string why_it_cannot_be_bisected(const Probe& base);

struct ProbeBudget {
  std::int64_t runs = 50000;           // in total, excluding remembered ones
  std::int64_t runs_of_a_plan = 1500;  // including remembered ones
  std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
  std::function<bool()> stop = {};  // true ends it early
};

// The text of the one signature with which all of these fail that do not fail as expected, if there
// are several, all are decided and no run passed; else "". So looks a second bug that is there
// whatever is changed, and so does one bug that shows in two ways: which of them it is, the runs do
// not tell.
std::string background_of(std::span<const Probe> probes);
// The end of a sentence about a background of this signature; "" for "".
std::string background_text(const std::string& signature);
// "passes with", or "fails otherwise with" where no value passes.
std::string_view ends_with(bool background);

// Runs by plan hash.
using Memory = std::map<std::string, Counts>;
// Called with the runs just made of a plan.
using Record = std::function<Result<void>(const Plan& plan, const Counts& runs)>;

class Prober {
 public:
  // Borrows `runner`. `record`: empty to store nothing.
  Prober(Runner& runner, ProbeBudget budget, Memory memory = {}, Record record = {});

  // Runs `plan`, the failing one, until its failure rate is known well enough to test others: the
  // lower end of its interval is at least half of the observed rate. Sets the rates; `miss` is the
  // chance that a plan that fails as often is judged as passing.
  Probe calibrate(const Plan& plan, double miss);
  void set_rates(const statistics::Rates& rates) { rates_ = rates; }
  const statistics::Rates& rates() const { return rates_; }

  // Probes in the order of the plans, which may contain duplicates.
  std::vector<Probe> ask(std::span<const Plan> plans);
  Probe ask(const Plan& plan);

  // From now on a plan that fails with this signature text alone ends the expected failure, also in
  // what is known already.
  void look_past(std::string background) { background_ = std::move(background); }

  std::int64_t runs() const { return runs_; }
  // What is known about `plan`, without running it.
  Probe known(const Plan& plan) const;
  // True if runs of other plans than the calibrated one are known.
  bool knows_others() const { return memory_.size() > 1; }
  // True if the budget has ended, so that answers may be missing.
  bool ended() const;
  // An error if runs could not be recorded; then the budget has ended, too.
  const Result<void>& problem() const { return problem_; }

 private:
  struct Open {
    const Plan* plan;
    std::string hash;
  };
  Answer answer_of(const Counts& counts) const;
  // Number of runs to make now; 0: no more.
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
