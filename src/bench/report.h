// The benchmark's results as plain values, and functions that print them in two formats.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/finding.h"

namespace redzone::bench {

// Trials that ran back to back, and their total time.
struct Tally {
  std::uint64_t plans = 0, trials = 0;
  std::uint64_t calls = 0;          // launches of a target, repeats included
  std::uint64_t mapping_calls = 0;  // calls in the trials that map memory
  // Calls of plans (a repeated one counts once) that have a reference; the number of them that were
  // compared with it; and the number of these that were compared in a sample of rows. 0 without a
  // harness.
  std::uint64_t comparable = 0, compared = 0, sampled = 0;
  double seconds = 0;

  double calls_per_s() const { return seconds > 0 ? static_cast<double>(calls) / seconds : 0; }
  Tally& operator+=(const Tally& more);
};

// One way to run a workload.
struct Column {
  std::string name;  // "bare", "screen", ...
  std::string what;  // a description for people
  std::size_t workers = 1;
  std::vector<Tally> rounds;
  std::string why_not;  // why it was not or not completely measured; "" if it was

  // Sums over all rounds.
  Tally sum() const;
  // The median of the rounds; nullopt if nothing was measured.
  std::optional<double> calls_per_s() const;
};

// Time that trials spent in one kind of device call, measured in the calling thread.
struct Phase {
  std::string name;  // name of a DevicePhase
  double us = 0;     // total
  std::uint64_t times = 0;
};
struct PhaseColumn {
  std::string column = {};  // name of the Column with the same trials
  std::uint64_t trials = 0, calls = 0;
  // Time of the trials; the part outside the phases is spent in the runner, the target and its
  // reference
  double seconds = 0;
  std::vector<Phase> phases = {};

  double us_per_trial() const {
    return trials > 0 ? 1e6 * seconds / static_cast<double>(trials) : 0;
  }
};

struct Throughput {
  std::string workload;
  std::string what;
  std::size_t plans = 0;
  std::string plans_hash;  // hash of all plans, in order
  double generate_us = 0;  // average time to generate one plan; not included in any column
  std::vector<Column> columns;
  std::vector<PhaseColumn> phases = {};
  std::string why_no_phases = {};

  const Column* column(std::string_view name) const;
  // calls/s of one column divided by those of another; nullopt if either was not measured.
  std::optional<double> ratio(std::string_view of, std::string_view to) const;
};

// The names of the columns. Columns with the same trials are compared with each other.
inline constexpr std::string_view kBare = "bare";               // one async trial per plan
inline constexpr std::string_view kBareScreen = "bare-screen";  // the screen's trials
inline constexpr std::string_view kLaunches = "launches";       // the same number of empty kernels
inline constexpr std::string_view kScreenOne = "screen-1-worker";  // the screen with one worker
inline constexpr std::string_view kScreen = "screen";  // the screen with the workers of a campaign
inline constexpr std::string_view kScreenNoReference = "screen-no-reference";
inline constexpr std::string_view kMemcheck = "memcheck";           // one worker under memcheck
inline constexpr std::string_view kMemcheckBare = "memcheck-bare";  // `bare` under memcheck

struct Ratio {
  const char* name;
  std::string_view of, to;
};
// The reported ratios; the first is the headline.
inline constexpr Ratio kRatios[] = {
    {"screen_to_bare_same_trials", kScreen, kBareScreen},
    {"screen_to_bare", kScreen, kBare},
    {"screen_no_reference_to_bare_same_trials", kScreenNoReference, kBareScreen},
    {"one_worker_to_bare_same_trials", kScreenOne, kBareScreen},
    {"bare_to_launches", kBare, kLaunches},
    {"screen_to_launches", kScreen, kLaunches},
    {"screen_to_memcheck", kScreen, kMemcheck},
    {"screen_to_memcheck_bare", kScreen, kMemcheckBare},
};

// The result of a campaign on one puzzle alone.
struct Detection {
  std::string puzzle = {};
  std::uint64_t seed = 0;
  bool found = false;
  std::string kind = {};       // kind of the finding
  std::string signature = {};  // text of the signature
  std::uint64_t plans_to_first = 0;
  double seconds_to_first = 0;    // until the first suspect was recorded
  double seconds_to_reduced = 0;  // until the finding was confirmed and reduced
  std::int64_t calls = 0;         // number of calls in the reduced plan
  bool minimal = false;
  std::string why_not = {};  // why nothing was found; "" if something was
};

// The time that the driver loses when a fault kills its only worker; one value per fault.
struct FaultSamples {
  std::vector<double> trial_ms;  // the faulting trial, from submission to observation
  std::vector<double> wait_ms;   // from the loss until a worker takes jobs
  std::vector<double> next_ms;   // from the loss to the observation of the next job
};

struct FaultCost {
  std::string puzzle;  // the puzzle that faults
  FaultSamples with_spare, without_spare;
  std::string why_not;
};

// One puzzle in one run mode.
struct ModeCell {
  std::uint64_t ran = 0, detected = 0;  // plans
  double seconds = 0;                   // for all plans, on the one GPU, including lost workers
  std::optional<double> seconds_to_first = {};
  std::optional<std::uint64_t> plans_to_first = {};  // including the plan that was detected
  std::string why_not = {};                          // why no plan could be judged; "" if one was
};
struct ModeRow {
  std::string puzzle;
  std::vector<ModeCell> cells;  // one for each column
};
struct ModeColumn {
  std::string name, what;
};
struct ModeTable {
  std::size_t plans = 0;  // same number in each cell of a row; fewer if time ran out
  std::vector<ModeColumn> columns;
  std::vector<ModeRow> rows;
};

// A launcher with one mistake: how it is detected by the launcher's reports and by the effects of
// its kernels.
struct LauncherRow {
  std::string puzzle;
  std::vector<ModeCell> cells = {};  // one for each column
  Detection none = {};               // dry-run campaign
  Detection native = {};             // campaign on the device
};
// A launcher without a mistake.
struct CorrectLauncher {
  std::string target;
  std::uint64_t calls = 0, plans = 0;
  std::uint64_t wanted_calls = 0;  // fewer were made if time ran out
  std::uint64_t settings = 0;      // number of distinct knob settings among the calls
  std::uint64_t suspects = 0;      // plans that failed an oracle; 0 is expected
  double seconds = 0;
  std::string why_not = {};  // why it was not run; "" if it was
};
struct LauncherTable {
  std::size_t plans = 0;  // see ModeTable
  std::vector<ModeColumn> columns;
  std::vector<LauncherRow> rows;
  std::vector<CorrectLauncher> correct;
};

// Rates for generated TMA descriptors; excludes the time to generate them.
struct DescriptorRates {
  std::uint64_t descriptors = 0, disagreed = 0;  // disagreed: checker and driver differ
  double checker_per_s = 0;
  std::optional<double> driver_per_s = {};
  std::string why_no_driver = {};
};
struct TmaReport {
  DescriptorRates descriptors;
  std::vector<Detection> length_one;  // puzzle.tma_unit_stride, one for each seed
  std::optional<Throughput> ragged;   // ragged prefill
};

// Results for each puzzle in a one-minute campaign over all puzzles.
inline constexpr std::size_t kMinuteParts = 6;
struct MinutePuzzle {
  std::string puzzle;
  std::uint64_t plans = 0;  // number of screened plans
  std::size_t parts = 0;  // number of the kMinuteParts equal parts of the time in which a plan ran
  // Seconds until the first finding was confirmed, and until one was minimal.
  std::optional<double> confirmed_s = {}, minimal_s = {};
};
// The rates of the kernels alone and beside faulting targets. Reported per kernel, because the
// kernels share time equally and a plan of one may take a thousand times as long as a plan of
// another: the sum would only show which of them ran.
struct KernelRate {
  std::string kernel;
  double alone_plans_per_s = 0, beside_plans_per_s = 0;  // plans that passed or failed
};
struct KernelShare {
  std::vector<std::string> faulting = {};  // the targets that run beside the kernels
  std::vector<KernelRate> kernels = {};    // kernels of which a plan was judged in the run alone
  std::string why_not = {};                // why it was not measured; "" if it was

  // The median of the kernels' ratios.
  std::optional<double> share() const;
};
struct Minute {
  double startup_s = 0;  // before the campaign: first worker and self-proof
  double seconds = 0;    // duration of the campaign
  std::uint64_t plans = 0, workers_lost = 0;
  std::vector<MinutePuzzle> puzzles = {};
  KernelShare share = {};

  std::size_t confirmed() const;
  std::size_t minimal() const;
  std::optional<double> first_confirmed_s() const;
  const MinutePuzzle* fewest_plans() const;  // null if there are no puzzles
};

// The targets of a Python file, in processes of its interpreter.
struct PythonCalls {
  std::string made_by = {};              // versions of Python, torch and Triton
  std::vector<Throughput> targets = {};  // `bare` is a Python loop of calls
  FaultCost fault_cost = {};
  std::string why_not = {};  // why nothing was measured; "" if something was
};

// One program in one way to run it.
struct GuardCell {
  std::vector<double> us = {};        // time of one unit of work, for each process
  std::vector<double> peak_mib = {};  // maximum device memory in use, for each process
  std::string why_not = {};           // why there are fewer runs than wanted; "" if there are not
};
struct GuardRow {
  std::string program = {}, what = {};
  std::string unit = {};              // unit of work: "step", ...
  std::string with = {};              // versions of the libraries that it uses
  std::vector<GuardCell> cells = {};  // one for each column
};
// The cost of the guard for whole programs. The first column is the program alone.
struct GuardCost {
  std::size_t runs = 0;  // wanted number of runs of each program in each column
  std::vector<ModeColumn> columns = {};
  std::vector<GuardRow> rows = {};
  std::string why_not = {};  // why nothing was measured; "" if something was

  // The median of one column divided by that of another; nullopt if either was not measured.
  std::optional<double> ratio(const GuardRow& row, std::string_view of, std::string_view to) const;
};
// The names of the columns.
inline constexpr std::string_view kPlain = "plain";
inline constexpr std::string_view kUncached = "uncached";
inline constexpr std::string_view kGuardBare = "guard-bare";
inline constexpr std::string_view kGuardFull = "guard";

struct Report {
  Environment environment;
  std::string kind;     // "host" | "cuda"
  std::string commit;   // "unknown" if not given
  std::string command;  // as typed
  std::string date;     // UTC, ISO 8601
  bool quick = false;
  bool interrupted = false;  // contains only complete measurements
  unsigned cores = 0;
  // Average of the last minute, at the start; above 0.5: other processes were active
  double load_average = 0;
  double seconds = 0;
  std::vector<Throughput> throughput;
  std::vector<Detection> detection;
  FaultCost fault_cost;
  ModeTable modes;
  LauncherTable launchers;
  std::optional<TmaReport> tma;
  std::optional<Minute> minute;
  std::optional<PythonCalls> python;
  std::optional<GuardCost> guard;
};

// Returns 0 for an empty vector.
double median(std::vector<double> values);

std::string report_text(const Report& report);
std::string report_json(const Report& report);

}  // namespace redzone::bench
