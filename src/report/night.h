// What one night of `redzone nightly` says, as a plain value. Every report format is a function of
// it and of nothing else, so that they cannot disagree.
//
// Texts that come from a target, a file or a person (names, reasons, links, plans) may hold any
// bytes: each format makes them safe for itself. Times are UTC, ISO 8601, to the second.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ledger.h"
#include "core/output_count.h"
#include "core/tonight.h"
#include "core/verdict.h"

namespace redzone::report {

using redzone::Tonight;

struct NightAttribution {
  std::string axis, value;  // "launch", "blocking"
  std::int64_t k = 0, n = 0;
};

// A table that another command made of a finding, such as a bisection.
struct NightTable {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // as many cells as there are columns
};

struct NightFinding {
  std::int64_t id = 0;
  std::string signature;       // as text
  std::string signature_hash;  // 16 hex digits; the same on every machine, whatever the address
  std::string kind, target;    // parts of the signature
  std::string where, buffer, side, access;
  std::string confidence;          // "confirmed", "flaky", "suspect", "unconfirmed"
  Ledger ledger;                   // at the end of the night
  std::optional<Standing> before;  // at its start; nothing where it was not there
  Tonight tonight = Tonight::not_run;
  std::int64_t k = 0, n = 0;     // of the replay: k of n runs failed as recorded
  std::int64_t occurrences = 0;  // plans of tonight that showed it, generated or of the corpus
  std::string outcome_reason;    // one sentence, where `tonight` needs one
  std::string reason;            // what is wrong, one sentence
  std::string oracle;
  std::int64_t reliable_k = 0, reliable_n = 0;  // as confirmed when it was found
  std::int64_t calls = 0;
  bool minimal = false;
  std::string plan;  // canonical text
  std::vector<NightAttribution> attribution;
  std::vector<std::string> culprits;  // "memcheck: call 2: read after 'x' in scan at scan.cu:41"
  std::string fault;
  std::string device, driver, toolkit, code_hash;  // where it was seen
  std::string first_seen, last_seen;
  std::string replay;  // a command line
  std::vector<NightTable> tables;
};

// A plan file of --corpus.
struct NightPlan {
  std::string file;
  std::string target;
  std::string expected;  // signature as text; "" where the file names none
  Tonight tonight = Tonight::not_run;
  std::int64_t k = 0, n = 0;
  std::string reason;
  std::optional<std::int64_t> finding;  // that it showed
  std::string replay;
};

using StandingCounts = std::map<Standing, std::int64_t>;  // absent: none

struct NightTarget {
  std::string name;
  std::uint64_t plans = 0, calls = 0;
  double device_seconds = 0;  // in trials, replays included
  double share = 0;           // of the time for fuzzing that was planned for it, 0..1
  std::uint64_t pass = 0, fail = 0, inconclusive = 0, not_applicable = 0, harness_errors = 0;
  StandingCounts findings;  // confirmed and flaky ones, at the end of the night
  std::string not_fuzzed;   // why it was not; "" where it was
  // Of the calls that were screened; zeros: it has no reference, or the night is of before this was
  // counted.
  ReferenceCount reference = {};
  std::string not_compared = {};  // why the first call that was not compared was not
  bool no_time = false;         // the night was asked for it, and no time was left for a plan of it
  OutputCount outputs = {};     // of the calls that were not compared
  std::string not_judged = {};  // why nothing judged the outputs of the first such call
  std::string spec_error = {};  // the first mistake of the target's author that was met; or ""
};

// What could not be judged.
struct NightGap {
  std::string what;  // a target, a plan file, a finding
  std::string why;
};

// One night of the past, or (last) this one.
struct NightTrend {
  std::int64_t campaign = 0;
  std::string started;
  std::uint64_t plans = 0, calls = 0;
  StandingCounts findings;                       // at its end
  std::map<std::string, double> device_seconds;  // by target
  std::optional<int> exit_code;                  // nothing where it was cut off
};

// What one shard did of a night.
struct NightPart {
  std::int64_t campaign = 0;
  int shard = 1;
  std::string device, host;
  std::string started, ended;    // ended "" where it was cut off
  std::optional<int> exit_code;  // nothing where it was cut off
};

struct Night {
  std::int64_t campaign = 0;  // the lowest of its parts
  std::string tool_version;   // "0.1.0"
  std::string command;        // as typed
  std::string commit;         // of what was tested, where it was given; ""
  std::string device, driver, toolkit, host;
  std::uint64_t seed = 0;        // of the fuzzing; of several parts, the one that they share
  int shard = 1, shards = 1;     // this is shard `shard` of `shards`, counted from 1; 0: several
  std::vector<NightPart> parts;  // by shard; several where stores of shards were merged: the
                                 // figures are their sums
  std::string started, ended;    // ended "" where it, or a part of it, was cut off
  double budget_seconds = 0, self_proof_seconds = 0, replay_seconds = 0, fuzz_seconds = 0;
  std::size_t planted_bugs_caught = 0;
  int resumed = 0;  // how often it went on after it had been cut off
  std::uint64_t plans = 0, calls = 0, trials = 0;
  std::uint64_t pass = 0, fail = 0, inconclusive = 0, not_applicable = 0, harness_errors = 0;
  ReferenceCount reference;  // the sum over the targets
  std::uint64_t workers_lost = 0;
  std::vector<NightFinding> findings;  // all that the store holds, most urgent first
  std::vector<NightPlan> corpus;
  std::vector<NightTarget> targets;
  std::vector<NightGap> not_judged;
  std::vector<NightTrend> trend;  // oldest first; the last is this night
  std::string problem;            // why the night ended early; "" when it did not
  int exit_code = 0;              // 0 nothing new, 1 new or regressed, 2, 3, 4, 130
};

// It fails tonight and nobody has waived it: such a finding makes the exit code 1.
bool is_alarm(const NightFinding& finding);
std::size_t alarm_count(const Night& night);

}  // namespace redzone::report
