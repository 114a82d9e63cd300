// One night of `redzone nightly` as a plain value. Every report format is a function of this value
// alone, so that the formats cannot disagree.
//
// Texts from a target, a file or a person (names, reasons, links, plans) may contain any bytes:
// each format escapes them. Times are UTC, ISO 8601, to the second.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ledger.h"
#include "core/replay_outcome.h"
#include "core/target_counts.h"
#include "core/verdict.h"

namespace redzone::report {

using redzone::ReplayOutcome;

struct NightAttribution {
  std::string axis, value;  // "launch", "blocking"
  std::int64_t k = 0, n = 0;
};

// A table about a finding from another command, such as a bisection.
struct NightTable {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // as many cells as there are columns
};

struct NightFinding {
  std::int64_t id = 0;
  std::string signature;       // as text
  std::string signature_hash;  // 16 hex digits; equal on all machines and for all addresses
  std::string kind, target;    // parts of the signature
  std::string where, buffer, side, access;
  std::string confidence;          // "confirmed", "flaky", "suspect", "unconfirmed"
  Ledger ledger;                   // at the end of the night
  std::optional<Standing> before;  // at the start of the night; empty if the finding did not exist
                                   // then
  ReplayOutcome outcome = ReplayOutcome::not_run;
  std::int64_t k = 0, n = 0;     // replay: k of n runs failed as recorded
  std::int64_t occurrences = 0;  // plans of this night that showed the finding, generated or from
                                 // the corpus
  std::string outcome_reason;    // one sentence, if `outcome` needs one
  std::string reason;            // the failure, in one sentence
  std::string oracle;
  std::int64_t reliable_k = 0, reliable_n = 0;  // counts of the final measurement
  std::int64_t calls = 0;
  bool minimal = false;
  std::string plan;     // canonical text; "" for a finding of a program
  std::string program;  // command line of a finding of a program under the guard; else ""
  std::vector<NightAttribution> attribution;
  std::vector<std::string>
      fault_attributions;  // "memcheck: call 2: read after 'x' in scan at scan.cu:41"
  std::string fault;
  std::string device, driver, toolkit, code_hash;  // where the finding was seen
  std::string first_seen, last_seen;
  std::string replay;  // a command line
  std::vector<NightTable> tables;
};

// Result for a plan file of --corpus.
struct NightPlan {
  std::string file;
  std::string target;
  std::string expected;  // signature as text; "" if the file has none
  ReplayOutcome outcome = ReplayOutcome::not_run;
  std::int64_t k = 0, n = 0;
  std::string reason;
  std::optional<std::int64_t> finding;  // the finding that the plan showed, or whose quarantine
                                        // prevents the run
  std::string replay;
  bool waived = false;  // whether that finding is waived
};

using StandingCounts = std::map<Standing, std::int64_t>;  // absent: zero

// Its device time includes replays. A night of an older version has no counts of references.
struct NightTarget : TargetCounts {
  std::string name;
  double share = 0;         // planned share of the fuzzing time, 0..1
  StandingCounts findings;  // confirmed and flaky findings, at the end of the night
  std::string not_fuzzed;   // why the target was not fuzzed; "" if it was fuzzed
  bool no_time = false;     // the target was scheduled, but no time was left for any plan of it
};

// A target, plan or finding that could not be judged.
struct NightGap {
  std::string what;  // a target, a plan file, a finding
  std::string why;
};

// A past night; the last element is this night.
struct NightTrend {
  std::int64_t campaign = 0;
  std::string started;
  std::uint64_t plans = 0, calls = 0;
  StandingCounts findings;                       // at the end of that night
  std::map<std::string, double> device_seconds;  // by target
  std::optional<int> exit_code;                  // empty if it was interrupted
};

// The part of a night that one shard ran.
struct NightPart {
  std::int64_t campaign = 0;
  int shard = 1;
  std::string device, host;
  std::string started, ended;    // ended: "" if it was interrupted
  std::optional<int> exit_code;  // empty if it was interrupted
};

struct Night {
  std::int64_t campaign = 0;  // the lowest campaign id of the parts
  std::string tool_version;   // "0.1.0"
  std::string command;        // as typed
  std::string commit;         // commit of the tested code; "" if not given
  std::string device, driver, toolkit, host;
  std::uint64_t seed = 0;     // seed of the fuzzing, shared by the parts
  int shard = 1, shards = 1;  // this is shard `shard` of `shards`, counted from 1; 0: several
                              // shards
  // Ordered by shard; several if stores of shards were merged: the figures are then sums over them.
  std::vector<NightPart> parts;
  std::string started, ended;  // ended: "" if the night, or a part of it, was cut off
  double budget_seconds = 0, self_proof_seconds = 0, replay_seconds = 0, fuzz_seconds = 0;
  std::size_t planted_bugs_caught = 0;
  int resumed = 0;  // how often the night was resumed after being cut off
  std::uint64_t plans = 0, calls = 0, trials = 0;
  std::uint64_t pass = 0, fail = 0, inconclusive = 0, not_applicable = 0, harness_errors = 0;
  ReferenceCount reference;  // the sum over the targets
  std::uint64_t workers_lost = 0;
  std::vector<NightFinding> findings;  // all findings in the store, most urgent first
  std::vector<NightPlan> corpus;
  std::vector<NightTarget> targets;
  std::vector<NightGap> not_judged;
  std::vector<NightTrend> trend;  // oldest first; the last is this night
  std::string problem;            // why the night ended early; "" if it did not
  int exit_code = 0;              // 0 nothing new, 1 new or regressed, 2, 3, 4, 130
};

// True if the finding failed in this night, confirmed or not, and is not waived
// (core/replay_outcome.h).
bool is_alarm(const NightFinding& finding);
// True if a run of the corpus plan failed, as expected or not, and the finding is not waived.
bool is_alarm(const NightPlan& plan);

// Number of alarms; if there are any, the exit code is 1.
struct Alarms {
  std::size_t findings = 0;     // new or regressed findings
  std::size_t unconfirmed = 0;  // findings that failed but were not confirmed for lack of time
  std::size_t plans = 0;        // corpus plans that failed but show none of the findings counted
                                // above

  std::size_t count() const { return findings + unconfirmed + plans; }
  bool operator==(const Alarms&) const = default;
};
Alarms alarms_of(const Night& night);

}  // namespace redzone::report
