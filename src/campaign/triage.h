// From a suspect to a finding, in two steps that need not follow each other at once: confirm()
// shows the failure in fresh workers and names it, in a few runs; refine() reduces the plan,
// sharpens the name, measures how often it fails and finds what matters to it, which is most of the
// work.
#pragma once

#include <functional>

#include "campaign/attribution.h"
#include "campaign/attributor.h"
#include "campaign/evaluator.h"
#include "campaign/finding_sink.h"
#include "campaign/reducer.h"
#include "core/finding.h"
#include "oracles/catalog.h"

namespace redzone::campaign {

// What the screen saw.
struct Suspect {
  Plan plan;
  Verdict verdict;
  std::vector<TrialSpec> trials;  // none: judged without a device
  std::shared_ptr<const exec::WorkerLog> log;
  std::size_t log_size = 0;
};

struct TriageOptions {
  std::chrono::milliseconds deadline{10000};  // of a trial, also for the final confirmation
  // A hang costs its deadline each time it is shown. Once it is confirmed, this one will do.
  std::chrono::milliseconds hang_deadline{750};
  // Runs of the plan as it was classified, beside the one that classified it.
  int confirm_runs = 4;
  // The measure that is stored, in runs that come after all others: of a failure that showed in
  // every run until then, and of one that did not.
  int final_runs = 10;
  int most_runs = 64;
  // The first runs of each value of each axis (attribution.h); 0: no axis matters on this device.
  int attribution_runs = 3;
  // For devices on which a worker takes long to start: look for the cause and reduce in used
  // workers, where that gives the same answer as fresh ones, and spare workers otherwise.
  bool reuse_workers = false;
  std::size_t parallel = 4;  // plans judged at the same time
  std::size_t reduce_evaluations = 5000;
  // For all that is reduced of one finding.
  std::chrono::milliseconds reduce_time{30000};
  bool schedules = true;                 // the device draws its schedule from Mode::schedule_seed
  std::vector<Attributor*> attributors;  // borrowed; asked of each reduced finding, in this order
  std::function<bool()> stop = {};       // true: finish with what is there
  // True: trials that run are ended at once. Unset: they end by their deadline.
  std::function<bool()> cut_off = {};
  // True if the stop was requested by the user, not by an expired budget. Unset: every stop counts
  // as a request.
  std::function<bool()> interrupted = {};
};

using SimplifyFor = std::function<Simplify(const TargetSpec&)>;

class Triage {
 public:
  Triage(exec::Executor& executor, const oracles::Catalog& catalog, SimplifyFor simplify,
         FindingSink& sink, TriageOptions options);
  const TriageOptions& options() const { return options_; }

  // An oracle and a plan that it fails on in a fresh worker.
  struct Shown {
    const Oracle* oracle = nullptr;
    Plan plan;
    Answer answer;
  };
  struct Confirmed {
    Finding finding;      // as stored; its state may be unconfirmed
    bool is_new = false;  // its signature was unknown
    // What refine() goes on with; nothing where there is nothing to refine: it did not recur, or is
    // stored with a minimal plan.
    std::optional<Shown> shown = {};
    bool grouped = false;  // trials of a question shared a worker
    // The first failure with direct evidence and another signature that was met. Not stored yet.
    std::optional<Alarm> other = {};
  };
  // `finding` is the recorded suspect.
  Result<Confirmed> confirm(Finding finding, const Suspect& suspect, const TargetSpec& spec);

  struct Settled {
    Finding finding;
    // As of Confirmed, for the final signature.
    bool is_new = false;
    std::optional<Alarm> other = {};
    // Of reduce_again(): the runs of the stored plan that it began with.
    Reliability now = {};
  };
  // Stores what became of it. `reduce_time`: of all reductions.
  Result<Settled> refine(Confirmed confirmed, const TargetSpec& spec,
                         std::chrono::milliseconds reduce_time);
  // Both steps.
  Result<Settled> run(Finding finding, const Suspect& suspect, const TargetSpec& spec);

  // Reduces further what is stored already. The oracle is the finding's. What is confirmed keeps
  // its signature, whatever else smaller plans show.
  Result<Settled> reduce_again(Finding finding, const TargetSpec& spec);

 private:
  // All failures, the most specific first; with `first`, the first failure alone, and what is
  // behind it is not asked.
  std::vector<Shown> failures(Evaluator& evaluator, std::span<const Question> questions,
                              bool first);
  // `crashed`: the screen saw a fault or a hang. With `blocking_only` comparisons are made under
  // blocking launches alone.
  std::optional<Shown> classify(Evaluator& evaluator, const std::vector<Plan>& plans, bool crashed,
                                bool blocking_only = false);
  // Along single axes.
  std::optional<Shown> compare(Evaluator& evaluator, const std::vector<Plan>& plans,
                               bool blocking_only);
  // Which of these failures of comparing oracles names the cause; nothing where it is undecided.
  // `compared`: how many were asked.
  std::optional<Shown> name(Evaluator& evaluator, std::vector<Shown> failures,
                            std::size_t compared);
  // Equal runs of the plan that differ, where some do in a reasonable number of runs.
  std::optional<Shown> differing_runs(Evaluator& evaluator, const Plan& plan);
  std::optional<Shown> find_cause(Evaluator& evaluator, const Suspect& suspect, Finding& finding);
  // Whether used workers show the failure as fresh ones do.
  bool same_in_used_workers(Evaluator& evaluator, const Shown& shown, const Finding& finding);
  // How many schedules each smaller plan is tried under, beside its own.
  std::size_t schedules_to_try(Evaluator& evaluator, const Shown& shown);
  void reduce_shown(Evaluator& evaluator, Shown& shown, Finding& finding);
  // Forms of a plan to try beside itself.
  using Variants = std::function<std::vector<Plan>(const Plan& plan)>;
  // For each plan whether it fails like `signature`, by as many runs as it takes to believe in a
  // pass of what has failed as reliably as that. A plan that fails in a variant only becomes that
  // variant.
  std::vector<bool> still_fails(Evaluator& evaluator, const Oracle& oracle,
                                const Signature& signature, const Reliability& reliability,
                                const Variants& variants, std::span<Plan> plans);
  // The most specific oracle that fails on the reduced plan takes over.
  void sharpen(Evaluator& evaluator, Shown& shown, Finding& finding);
  // Reduces and measures finding.plan; in used workers as long as a fresh one agrees in the end.
  // `rename`: the reduced plan may show that the failure is one of a more specific kind.
  Result<void> settle_plan(Evaluator& evaluator, Shown shown, Finding& finding, bool rename);
  // What the device and the tools say of `failure`, which finding.plan shows.
  void find_culprits(const Answer& failure, Finding& finding);
  // How often `plan` fails so in fresh workers, in a number of runs that does not depend on what
  // they show; where the first few show nothing, in a larger number of other ones.
  Runs run_to_confirm(Evaluator& evaluator, const Oracle& oracle, const Plan& plan,
                      const Signature& signature);
  // Reliability and attribution of finding.plan, at the full deadline. False: no run of it could be
  // judged, and nothing has changed.
  Result<bool> measure(Evaluator& evaluator, const Oracle& oracle, Finding& finding);
  // Keeps the first failure that is not `looked_for`.
  void note_other(const Question& question, const Answer& answer, const Signature& looked_for);
  // The other failure that was met, if `finding` is not that one.
  std::optional<Alarm> take_other(const Finding& finding);
  bool stopped() const { return options_.stop && options_.stop(); }
  Evaluator evaluator_for(const TargetSpec& spec, std::chrono::milliseconds deadline);

  exec::Executor& executor_;
  const oracles::Catalog& catalog_;
  SimplifyFor simplify_;
  FindingSink& sink_;
  TriageOptions options_;
  // Of the finding at hand.
  std::chrono::milliseconds reduce_left_{0};  // of the time for reductions
  std::optional<Alarm> other_;
};

}  // namespace redzone::campaign
