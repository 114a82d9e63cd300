// One fuzz run: generates, screens and triages until the time or the plans are used up.
//
// Single-threaded; workers do the parallel work, and cases under triage run interleaved with the
// screen (tasks.h). Every finding is in the sink when run() returns, also when run() is stopped
// early.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "campaign/finding_sink.h"
#include "campaign/plan_source.h"
#include "campaign/preparer.h"
#include "campaign/reference_budget.h"
#include "campaign/stations.h"
#include "campaign/tasks.h"
#include "core/campaign_record.h"
#include "core/spec_calls.h"
#include "core/target_counts.h"
#include "core/tool_warnings.h"
#include "exec/executor.h"
#include "oracles/catalog.h"

namespace redzone::campaign {

struct TargetUnderTest {
  const TargetSpec* spec = nullptr;  // outlives the campaign
  std::unique_ptr<PlanSource> source;
  Environment environment;
  double weight = 1;               // share of the time relative to the other targets; > 0
  std::uint64_t plans_before = 0;  // plans made before this campaign; count towards
                                   // plans_per_target
};

// What a campaign did with one target. Its device time is that of the screen and of triage.
struct TargetStats : TargetCounts {
  std::string target;
  std::string out_of_reach;  // see PlanSource
  // Plans screened with TrialSpec::wide_canaries because a fault of the target is known: without
  // them each plan that faults would cost a worker.
  std::uint64_t between_canaries = 0;
  // Calls that the target refused and that were removed from their plans, without repeats, and the
  // target's message for the first one.
  std::uint64_t refused_calls = 0;
  std::string why_refused;
  // Calls removed from plans because similar calls have hung.
  std::uint64_t hung_calls = 0;
  OwnMemory own_memory;   // in trials of the screen
  ToolWarnings warnings;  // in trials of the screen
};

// Why plans of a target got no verdict.
struct Unjudged {
  std::string target;
  Outcome outcome = Outcome::not_applicable;  // or inconclusive, or harness_error
  std::string reason;                         // of the oracle; "" for reasons beyond kMostReasons
  std::uint64_t plans = 0;
  // A mistake of the target's author, independent of how many plans met it. Names the first call
  // that a function of the spec could not handle, once per function.
  bool spec_error = false;
};
// Maximum number of distinct reasons: a reason that contains dims differs for each plan.
inline constexpr std::size_t kMostReasons = 64;

struct Progress {
  CampaignStats stats;
  double seconds_left = -1;                 // < 0: no time limit
  std::optional<std::uint64_t> plans_left;  // empty: no plan limit
  std::vector<TargetStats> targets = {};    // in the order of the targets
};

struct CampaignOptions {
  std::int64_t id = 0;                 // in the store
  std::chrono::milliseconds time{0};   // 0: no limit
  std::uint64_t plans_per_target = 0;  // 0: no limit
  // The campaign ends once this many new findings have left their last station. 0: no limit.
  std::uint64_t findings = 0;
  std::chrono::milliseconds deadline{10000};  // of each trial
  // Time charged to a target for each worker that it killed or that was started for it alone, so
  // that a target that always faults does not starve the others.
  std::chrono::milliseconds worker_cost{50};
  // Triage uses only workers that the screen leaves idle, so neither waits for the other. Otherwise
  // the two share the time of their target.
  bool screen_leaves_room = false;
  // The device reports which call hangs, even if several are in flight.
  bool hang_names_call = false;
  // Each occurrence of a hang costs a full deadline, so hanging suspects are recorded at once but
  // triaged last: in this share of the time, at its end, or when the plans are used up. A hang is
  // confirmed earlier if no other case waits and the cost stays within this share of the elapsed
  // time (all of the elapsed time if there is one target). If the screen leaves room, no hang is
  // confirmed early, because a hang then slows down all other plans.
  double hang_share = 0.25;
  // Without a limit of time or plans, hangs are triaged this long after the first one.
  std::chrono::milliseconds hang_wait{60000};
  TriageOptions triage;
  // Prepares plans before their turn. A target whose next plan is not prepared lets others run
  // first. Null: no preparation. Outlives the campaign.
  Preparer* preparer = nullptr;
  std::function<bool()> stop = {};  // Ctrl-C
  // Returns true if the target is quarantined; called before the first plan and about twice a
  // second. A quarantined target's case under triage ends as a suspect; facts already learned about
  // the target are kept.
  std::function<bool(const std::string& target)> quarantined = {};
  std::function<void(const Progress&)> progress = {};  // about twice a second
  // Called for each finding when it is confirmed and again when it is reduced, with the seconds
  // since the campaign began.
  std::function<void(const Finding&, double seconds)> found = {};
  // Called if a finding that was passed to `found` proves to be the same bug as `other`: `id` is
  // then no longer stored.
  std::function<void(std::int64_t id, std::int64_t other)> merged = {};
  // Counts and limits the calls of spec functions: once the time is up or `stop` returns true, no
  // plan is generated with them, and one deadline later they are not called at all. Null: no limit.
  // Outlives the campaign.
  SpecCalls* spec_calls = nullptr;
  // The clock of the campaign.
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
};

struct CampaignResult {
  CampaignStats stats;
  // Findings of this campaign in the order of triage, then the suspects that could not be triaged
  // in time.
  std::vector<Finding> findings;
  std::vector<std::int64_t> new_ids;  // ids of `findings` that were unknown before
  bool stopped = false;               // stop() returned true
  std::vector<TargetStats> targets;   // in the order of the targets
  std::vector<Unjudged> unjudged;     // ordered by first occurrence
  // Functions of specs that took more than half of the time: see slow_functions().
  std::vector<std::string> slow_functions;
};

class Campaign {
 public:
  Campaign(exec::Executor& executor, const oracles::Catalog& catalog, SimplifyFor simplify,
           FindingSink& sink, std::vector<TargetUnderTest> targets, CampaignOptions options);
  ~Campaign();

  // An error of the sink ends the campaign, so that no finding is lost silently.
  Result<CampaignResult> run();

 private:
  struct TargetState;  // one target
  struct Pending {
    std::size_t target = 0;
    Plan plan;
    std::vector<TrialSpec> trials;
    ReferenceBudget::Reserved references;
    bool between_canaries = false;
    std::chrono::steady_clock::time_point submitted = {};
    bool will_lose = false;  // will probably lose its worker
    bool aside = false;      // runs in a used worker instead of a worker of the screen
    bool again = false;      // a short deadline had ended it as a hang, but it does not hang
  };

  // The stations of triage, in their order; take_up() leads back to the second.
  enum class Station : std::uint8_t { confirm, refine, explain, measure_load, end };
  // A case that waits for a station or is being worked on there.
  struct Visit {
    std::size_t target = 0;
    std::string key;  // its group of suspects
    bool hang = false;
    bool early = false;  // a hang that is confirmed early and then waits for the time share of
                         // hangs
    Station station = Station::confirm;
    // The station in whose queue it waits: its own, or a later one.
    Station turn = Station::confirm;
    bool first = false;          // the first case of its target
    bool of_known = false;       // another suspect with a signature for which a bug was found
    bool taken_up = false;       // its reduction is continued (take_up())
    std::string explained = {};  // hash of the plan that was explained before take_up()
    double had = 0;              // had() of its target when the visit began
    Case triaged;
    Suspect suspect = {};  // input of Station::confirm
    // Deadline of this visit.
    std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
    std::chrono::microseconds spent{0};  // time of its trials at this station
    // Id under which the result of the campaign lists it; 0: not listed yet.
    std::int64_t listed = 0;
    bool listed_as_new = false;
    Result<void> result = {};
  };

  // Generates plans ahead of time for targets that need preparation. A target that waits for its
  // plans keeps only a small credit of its time share.
  void prepare_ahead();
  // True if some target that may generate plans has no prepared plan.
  bool is_preparing();
  // Number of plans that the target may still generate; 0 while it is quarantined.
  std::uint64_t plans_left(const TargetState& target) const;
  // True if the target may generate a plan now: it has plans left, it need not wait for the first
  // look at other targets, and its triage does not claim all of its time.
  bool may_make(const TargetState& target) const;
  // True if this target has had its first look and others have not.
  bool lets_others_pass(const TargetState& target) const;
  void top_up();
  // Collects for the report which dims the cost budget keeps small; skips targets with slow
  // functions.
  void look_at_reach();
  // Generates the target's next plan; returns nothing if the plan fails without a device. Throws
  // what the target's functions throw.
  std::optional<Pending> make_pending(TargetState& target);
  // Submits the target's next plan, or defers it. Throws as make_pending() does.
  void submit_next(TargetState& target);
  // Screens a plan in a used worker, unless the target is quarantined or the time is up.
  void screen_aside(TargetState& target, exec::Job job);
  // Runs the pairs of unordered operations that the screen recorded in both orders, unless they
  // were tried often enough. A failure becomes a suspect, and so does a failure that one of these
  // trials shows by itself.
  void try_order(TargetState& target, const Pending& pending,
                 std::span<const Observation> observations);
  // Maximum time without progress of a call of the plan.
  std::chrono::milliseconds call_deadline(const TargetState& target, const Pending& plan) const;
  // The call deadline of a plan that is known or suspected to hang.
  std::chrono::milliseconds hang_deadline() const;
  // Updates the hang state of the target from a screened plan: a target that seemed to hang may
  // only be slow.
  void note_slowness(TargetState& target, const exec::JobResult& result) const;
  // Records which calls hung and which ended.
  void note_calls(TargetState& target, const Pending& pending, std::span<const Observation> seen);
  static void leave_out_hung(TargetState& target, Plan& plan);
  // Makes the trials of the plan run with wide canaries.
  void set_between_canaries(Pending& plan) const;
  // Records a fault of the target: all but one of the deferred plans that will probably lose their
  // worker then run with wide canaries.
  void note_fault(TargetState& target);
  // Combines the plan with the trials of the screen.
  Pending pending_for(TargetState& target, Plan plan);
  // Defers a plan for another screening: it ended as a hang but does not hang.
  void screen_again(TargetState& target, Plan plan);
  // If the target refused a call of the plan, defers the plan without that call in its place and
  // returns true.
  bool screen_the_rest(TargetState& target, const Pending& pending,
                       std::span<const Observation> seen);
  // True if the plan is to run in a used worker instead of the worker of the screen.
  bool goes_apart(const Pending& plan) const;
  // True if another plan with this `will_lose` may be screened in a used worker.
  bool room_aside(bool will_lose) const;
  // The first deferred plan of the target that can run now; end() if there is none.
  std::deque<Pending>::iterator to_resume(TargetState& target) const;
  // True if no other target has plans left.
  bool is_alone(const TargetState& target) const;
  // True if the target's next plan must wait until another of its plans is judged.
  bool waits_for_itself(const TargetState& target) const;
  // True if the target has a deferred plan that can run now, or may generate one and has it
  // prepared. False while it is quarantined.
  bool may_run(TargetState& target) const;
  // The target to run next. Of those that may run and need not wait for their own plan, first those
  // that do not let others pass, then the one with the least due(). Null if there is none.
  TargetState* next_target();
  // True if time is divided between targets: there is a time limit and more than one target.
  bool has_turns() const;
  // Judges a finished plan of the screen. A plan that can no longer be judged because no time is
  // left is not counted.
  Result<void> finish(exec::JobResult result);
  Result<void> judge(TargetState& target, Pending pending, exec::JobResult result);
  Result<void> suspect(TargetState& target, Suspect suspect);
  Result<void> open_case(TargetState& target, Suspect suspect, const std::string& key);
  // Opens a case for the suspect that the group holds, after the previous case was confirmed or
  // dismissed.
  Result<void> look_again(TargetState& target, const std::string& key);
  // Queues the case behind the cases of its target that are at the same station or an earlier one.
  // A confirmed finding is refined before the target's next suspect is confirmed, since both may be
  // the same bug. A continued reduction is queued behind these, and a suspect that may be a known
  // bug behind the continued reduction.
  void wait(TargetState& target, Visit visit);
  // Starts the visits whose turn it is.
  void start_visits();
  // The target whose next case may start now, or null.
  TargetState* target_to_triage();
  // True if a case of this target may start now, regardless of the other targets.
  bool may_triage(const TargetState& target) const;
  void start(TargetState& target, Visit visit);
  TriageOptions triage_options(TargetState& target, const Visit& visit);
  Result<void> visit(exec::Runner& runner, TargetState& target, Visit& visit);
  void note_result(TargetState& target, const Visit& visit);
  Result<void> leave(TargetState& target, Visit visit);
  // Queues an unfinished reduction of the target, if there is one and none is being continued.
  void take_up(TargetState& target);
  // The station at which a visit wants workers: its turn, or a later one.
  Station stage_of(const Visit& visit) const;
  // Priority of a screened plan that will probably cost a worker of triage.
  Tasks::Rank rank_of_losing(const TargetState& target, std::uint64_t order) const;
  // Time of the trials of a case, plus the cost of workers that were started for them or lost.
  std::chrono::microseconds cost_of(std::span<const exec::Job> jobs,
                                    std::span<const exec::JobResult> results) const;
  void charge(TargetState& target, std::chrono::microseconds cost);  // adds time of triage
  // Time that the target has used so far, relative to its weight; the scheduler picks the least.
  double had(const TargetState& target) const;
  // How many of `visits` are triaged at the same time.
  std::int64_t beside(std::int64_t visits) const;
  // Finishes the cases under triage; requires that their `stop` already returns true.
  Result<void> wind_down();
  // Records what finished trials showed that are not judged yet, without triage, and completes the
  // counts of the result.
  Result<void> record_rest();
  // Time limit for the reductions of the next finding: its part of the time left for all waiting
  // findings.
  std::chrono::milliseconds reduce_time() const;
  void meet(TargetState& target, std::optional<Alarm>& other);
  void note_case(TargetState& target, const std::string& key, const Finding& finding);
  std::vector<Finding>::iterator find_listed(std::int64_t id);  // searches the result
  // Adds the outcome of a case to the result, and counts the finding as new if this campaign found
  // it first.
  void list(const Finding& finding, bool is_new);
  // Removes a finding that was merged into another one.
  void unlist(std::int64_t id, bool is_new);
  bool hangs_are_due() const;
  // The wall time of a confirmation in which each run takes the full deadline.
  std::chrono::milliseconds hang_confirmation() const;
  // Queues the hangs with the cases of their targets, each with its share of the time that is left.
  void release_hangs();
  // Queues one hang for confirmation if that delays no other case.
  void confirm_hang_early();
  void count(TargetState& target, const Verdict& verdict);
  // Returns the verdict, but "not applicable" instead of a pass if the plan launched nothing.
  static Verdict as_counted(const Verdict& verdict, std::span<const Observation> observations);
  // Counts one more plan that could not be run or judged because of a mistake of the target's
  // author. `function` is the beginning of `what` and identifies the function of the spec.
  void count_spec_error(TargetState& target, std::string_view function, const std::string& what);
  bool time_is_up() const;
  // True if the time limit has passed by more than a deadline: running trials are then ended.
  bool is_overdue() const;
  bool found_enough() const { return options_.findings > 0 && finished_ >= options_.findings; }
  bool is_over() const { return stopped() || time_is_up() || found_enough(); }
  bool is_over_for(const TargetState& target) const;
  // True if functions of specs must not be called any more, not even for triage: one deadline after
  // the time limit, a stop, or the last requested finding.
  bool no_more_calls();
  void ask_quarantine();
  // True if the cases of the target end because of the user (stop, or the target is quarantined),
  // not because time ran out.
  bool called_off(const TargetState& target) const;
  // Maximum time of the reference of one large call.
  std::chrono::milliseconds most_reference_time() const;
  double seconds_in_all() const;  // the time limit
  bool stopped() const { return options_.stop && options_.stop(); }
  double elapsed_seconds() const;
  std::chrono::steady_clock::time_point now() const { return options_.now(); }
  // Reports to the sink and the progress callback; at most every half second unless forced.
  Result<void> report_progress(bool force);
  void tell_progress();
  std::vector<TargetStats> target_stats() const;

  exec::Executor& executor_;
  const oracles::Catalog& catalog_;
  FindingSink& sink_;
  CampaignOptions options_;
  SimplifyFor simplify_;
  std::vector<TargetState> targets_;
  std::map<std::uint64_t, Pending> pending_;
  // Suspects that no trial of the screen showed, with the index of their target: plans that fail
  // without a device, and failures met during the triage of another failure.
  std::vector<std::pair<std::size_t, Suspect>> deferred_suspects_;
  // True during the first look: with several targets and a time limit, every target gets its first
  // plans before targets that have already shown a failure get more. If the screen leaves room,
  // those targets may still run while the others have no plan ready.
  bool first_look_ = false;
  std::deque<Visit> hangs_;
  std::chrono::steady_clock::time_point first_hang_;
  std::chrono::microseconds spent_on_hangs_{0};  // by cases under triage
  std::optional<Error> lost_;                    // error of the sink in a case
  std::optional<std::chrono::steady_clock::time_point>
      quarantine_asked_;                                            // last call of `quarantined`
  std::optional<std::chrono::steady_clock::time_point> stop_seen_;  // when a stop was first seen
  std::uint64_t next_job_ = 1;
  std::uint64_t visits_ = 0;  // number of visits started
  // Plans being screened in used workers: those that will probably lose their worker, and those
  // with long references.
  std::size_t aside_losing_ = 0, aside_long_ = 0;
  std::size_t reducing_ = 0;    // started visits that are not past Station::refine
  std::uint64_t finished_ = 0;  // new findings that left their last station
  std::vector<std::shared_ptr<const Visit>> further_;  // visits in progress, except the first of
                                                       // each target
  std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point last_progress_;
  std::uint64_t lost_before_ = 0;  // workers lost before this campaign, by the self-proof
  CampaignResult result_;
  Tasks tasks_;  // last, because unwinding tasks uses the other members
};

}  // namespace redzone::campaign
