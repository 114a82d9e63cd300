// One fuzz run: generate, screen, triage, until the time or the plans are spent.
//
// Single-threaded; workers do the parallel work, and cases that are looked into wait side by side
// with the screen (tasks.h). Everything found is in the sink by the time run() returns, also when
// it is stopped.
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
#include "core/output_count.h"
#include "exec/executor.h"
#include "oracles/catalog.h"

namespace redzone::campaign {

struct TargetUnderTest {
  const TargetSpec* spec = nullptr;  // outlives the campaign
  std::unique_ptr<PlanSource> source;
  Environment environment;
  double weight = 1;               // its share of the time, against the others'; > 0
  std::uint64_t plans_before = 0;  // count towards plans_per_target: made before this campaign
};

// What a campaign did with one target.
struct TargetStats {
  std::string target;
  std::uint64_t plans = 0, calls = 0;
  std::uint64_t pass = 0, fail = 0, inconclusive = 0, not_applicable = 0, harness_errors = 0;
  double device_seconds = 0;      // in trials of the screen and in triage
  ReferenceCount reference = {};  // over all plans that were screened
  std::string not_compared = {};  // why the first call that was not compared was not
  OutputCount outputs = {};       // of the calls that were screened and not compared
  std::string not_judged = {};    // why nothing judged the outputs of the first such call
  std::string out_of_reach = {};  // see PlanSource
  std::string spec_error = {};    // the first mistake of the target's author that was met; or ""
};

// Why plans of a target got no verdict.
struct Unjudged {
  std::string target;
  Outcome outcome = Outcome::not_applicable;  // or inconclusive, or harness_error
  std::string reason;                         // of the oracle; "" of those beyond kMostReasons
  std::uint64_t plans = 0;
  // A mistake of the target's author, which is no matter of how many plans met it. Of the calls
  // that one function of the spec does not serve the first is named.
  bool spec_error = false;
};
// Reasons that are told apart; one that names the dims is another for each plan.
inline constexpr std::size_t kMostReasons = 64;

struct Progress {
  CampaignStats stats;
  double seconds_left = -1;                 // < 0: no time limit
  std::optional<std::uint64_t> plans_left;  // of a limit of plans
  std::vector<TargetStats> targets = {};    // in the order of the targets
};

struct CampaignOptions {
  std::int64_t id = 0;                        // in the store
  std::chrono::milliseconds time{0};          // 0: no limit
  std::uint64_t plans_per_target = 0;         // 0: no limit
  std::chrono::milliseconds deadline{10000};  // of each trial
  // Charged to a target for each worker that it took down or had started for it alone, so that one
  // that always faults does not starve the others.
  std::chrono::milliseconds worker_cost{50};
  // Looking into cases takes nothing from the screen, as it takes what the screen leaves idle: then
  // neither waits for the other. Else the two share the time of their target.
  bool screen_leaves_room = false;
  // A hang costs its deadline each time it is shown, so suspects that hang are recorded at once but
  // looked into last: in this share of the time at its end, or when the plans are spent.
  double hang_share = 0.25;
  // The same where there is no limit: so long after the first of them was seen.
  std::chrono::milliseconds hang_wait{60000};
  TriageOptions triage;
  // What is done for plans before their turn comes; a target whose next plan is not ready lets
  // others have theirs. Null: nothing. Outlives the campaign.
  Preparer* preparer = nullptr;
  std::function<bool()> stop = {};  // Ctrl-C
  // Whether a target is launched no more, from now on; asked before the first plan and about twice
  // a second. A case that is looked into ends, as a suspect; what is known of the target stays.
  std::function<bool(const std::string& target)> barred = {};
  std::function<void(const Progress&)> progress = {};  // about twice a second
  // Told of each finding when it is confirmed, and again when it is reduced; with the time since
  // the campaign began.
  std::function<void(const Finding&, double seconds)> found = {};
  // What its time is measured by.
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
};

struct CampaignResult {
  CampaignStats stats;
  // Those seen in this campaign, in the order of triage; then the suspects that it had no time for.
  std::vector<Finding> findings;
  std::vector<std::int64_t> new_ids;  // of these, those that nobody had seen before
  bool stopped = false;               // by stop()
  std::vector<TargetStats> targets;   // in the order of the targets
  std::vector<Unjudged> unjudged;     // in the order of the first of each
};

class Campaign {
 public:
  Campaign(exec::Executor& executor, const oracles::Catalog& catalog, SimplifyFor simplify,
           FindingSink& sink, std::vector<TargetUnderTest> targets, CampaignOptions options);
  ~Campaign();

  // An error of the sink ends the campaign: what cannot be stored must not be lost silently.
  Result<CampaignResult> run();

 private:
  struct Lane;  // one target
  struct Pending {
    std::size_t lane = 0;
    Plan plan;
    std::vector<TrialSpec> trials;
    ReferenceBudget::Reserved references;
  };

  // The stations of triage, in their order.
  enum class Station : std::uint8_t { confirm, refine, explain, measure_load, end };
  // A case that waits for its turn at a station, or is there.
  struct Visit {
    std::size_t lane = 0;
    std::string key;  // of its group of suspects
    bool hang = false;
    Station station = Station::confirm;
    // Which stations it comes behind: its own, or a later one.
    Station turn = Station::confirm;
    bool first = false;  // of its target
    Case looked_into;
    Suspect suspect = {};  // for Station::confirm
    // When it has to end.
    std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
    std::chrono::microseconds spent{0};  // at this station
    // In the result of the campaign; 0: not yet.
    std::int64_t listed = 0;
    bool listed_as_new = false;
    Result<void> result = {};
  };

  // Plans are made ahead where that is worth it. Who waits for them keeps little of its share.
  void look_ahead();
  // It is some target's turn, or may be, whose next plan is not prepared.
  bool is_preparing();
  // So many plans the target may still make; none while it is barred.
  std::uint64_t plans_left(const Lane& lane) const;
  // It may make one now: there are plans left, and the first look at it has not ended.
  bool may_make(const Lane& lane) const;
  // Its cases have its time for themselves: the screen of that target waits.
  bool is_busy(const Lane& lane) const;
  void top_up();
  // Throws what the target's functions throw, and has submitted nothing then.
  void submit_next(Lane& lane);
  // Screens a plan in a used worker; not once the target is barred or the time is up.
  void screen_aside(Lane& lane, exec::Job job);
  // The lane whose turn it is: of those that have something to do the one that had the least.
  Lane* next_lane();
  // Whether time is divided at all: there is a limit to it, and more than one target.
  bool has_turns() const;
  Result<void> finish(exec::JobResult result);
  Result<void> suspect(Lane& lane, Suspect suspect);
  Result<void> open_case(Lane& lane, Suspect suspect, const std::string& key);
  // Puts it behind those of its target that are at the same station or before. One confirmed
  // finding of a target is refined before a further suspect of it is confirmed, which may be the
  // same bug.
  void wait(Lane& lane, Visit visit);
  // Lets those begin whose turn it is.
  void start_visits();
  // The lane whose next case may begin now.
  Lane* lane_to_look_into();
  // It may have a case looked into now, whatever others may.
  bool may_look_into(const Lane& lane) const;
  void start(Lane& lane, Visit visit);
  TriageOptions triage_options(Lane& lane, const Visit& visit);
  Result<void> visit(exec::Runner& runner, Lane& lane, Visit& visit);
  Result<void> leave(Lane& lane, Visit visit);
  // What trials of a case took, and the workers that were started for them or lost.
  std::chrono::microseconds cost_of(std::span<const exec::Job> jobs,
                                    std::span<const exec::JobResult> results) const;
  void charge(Lane& lane, std::chrono::microseconds cost);  // for cases
  // What the target has had: the least comes first.
  double had(const Lane& lane) const;
  // So many of them are looked into at a time.
  std::int64_t beside(std::int64_t visits) const;
  // Ends the cases that are looked into, as their stop says so by now.
  Result<void> wind_down();
  // What the reductions of the next finding may take, of the time that is left for all that wait.
  std::chrono::milliseconds reduce_time() const;
  void meet(Lane& lane, std::optional<Alarm>& other);
  void note_case(Lane& lane, const std::string& key, const Finding& finding);
  std::vector<Finding>::iterator find_listed(std::int64_t id);  // in the result
  // Lists what became of a case, and counts what is found for the first time in this campaign.
  void list(const Finding& finding, bool is_new);
  // Takes back a finding that has become one with another.
  void unlist(std::int64_t id, bool is_new);
  bool hangs_are_due() const;
  // They join the cases of their targets, each with its share of the time that is left.
  void release_hangs();
  void count(Lane& lane, const Verdict& verdict);
  // One more plan that a mistake of the target's author kept from being run or judged. `function`
  // begins `what`, and is the same for all of its calls.
  void count_spec_error(Lane& lane, std::string_view function, const std::string& what);
  bool time_is_up() const;
  // The time is up by more than a deadline: what still runs is ended.
  bool is_overdue() const;
  void ask_barred();
  // Somebody's will ends the cases of the target, not their time.
  bool called_off(const Lane& lane) const;
  // The longest that a large call's reference may take.
  std::chrono::milliseconds most_reference_time() const;
  double seconds_in_all() const;  // of a campaign with a limit
  bool stopped() const { return options_.stop && options_.stop(); }
  double elapsed_seconds() const;
  std::chrono::steady_clock::time_point now() const { return options_.now(); }
  // Tells the sink and the progress callback; rarely, unless forced.
  Result<void> report_progress(bool force);
  void tell_progress();
  std::vector<TargetStats> target_stats() const;

  exec::Executor& executor_;
  const oracles::Catalog& catalog_;
  FindingSink& sink_;
  CampaignOptions options_;
  SimplifyFor simplify_;
  std::vector<Lane> lanes_;
  std::map<std::uint64_t, Pending> pending_;
  // Suspects that no trial of the screen showed, by lane: plans that fail without a device, and
  // failures that were met while another one was looked into.
  std::vector<std::pair<std::size_t, Suspect>> suspects_aside_;
  // A campaign of several targets with a limit of time looks at each of them before it makes more
  // plans for what has shown something already.
  bool first_look_ = false;
  std::deque<Visit> hangs_;
  std::chrono::steady_clock::time_point first_hang_;
  std::optional<Error> lost_;                                          // of the sink, in a case
  std::optional<std::chrono::steady_clock::time_point> barred_asked_;  // when, last
  std::uint64_t next_job_ = 1;
  std::uint64_t visits_ = 0;  // that began
  std::size_t aside_ = 0;     // plans that are screened aside
  std::size_t reducing_ = 0;  // that are not past Station::refine, of those that have begun
  std::size_t further_ = 0;   // that have begun and not ended, but the first of each target
  std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point last_progress_;
  std::uint64_t lost_before_ = 0;  // workers lost before this campaign: to the self-proof
  CampaignResult result_;
  Tasks tasks_;  // last: what it unwinds uses the others
};

}  // namespace redzone::campaign
