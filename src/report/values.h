// Values that the commands report. Campaigns and findings are those of the store.
#pragma once

#include <redzone/spec.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/finding.h"
#include "core/output_count.h"
#include "core/run_result.h"
#include "core/tool_warnings.h"
#include "core/trial.h"
#include "core/verdict.h"

namespace redzone::report {

// A device that a target was built for.
struct TargetDevice {
  std::string device;     // "host", "cuda"
  bool runs_here = true;  // on this machine
  std::string why_not;    // one clause if it does not run here
  std::string plugin;     // file that contains the target
  std::string code_hash;  // hash of that file
};

struct TargetInfo {
  TargetSpec spec;
  std::vector<TargetDevice> devices;
};

// One run of a replayed plan.
struct ReplayRun {
  End end = End::completed;  // end of the deciding trial
  Verdict verdict;
  RunResult result = RunResult::not_judged;
  std::uint64_t wall_us = 0;
  std::optional<SanitizerReport> sanitizer = {};  // set for a run under a tool
};

struct ReplayResult {
  std::string subject;                // "finding 3", "repro.toml"
  std::optional<Signature> expected;  // absent: the plan file has no expected failure
  std::vector<ReplayRun> runs;
  // The finding whose signature a run showed instead of the expected one.
  std::optional<std::int64_t> other_finding = {};

  // Of the judged runs, those that failed as expected; without an expectation, all that failed.
  Reliability reliability() const;
};

// Result of the self-proof before a campaign.
struct SelfProof {
  std::size_t caught = 0;  // number of planted bugs that were caught
  std::chrono::milliseconds took{0};
};

// Why plans have no verdict.
struct Unjudged {
  std::string target;
  Outcome outcome = Outcome::not_applicable;  // or inconclusive, or harness_error
  std::string reason;                         // "": various reasons
  std::uint64_t plans = 0;
  bool spec_error = false;  // a mistake of the target's author; `reason` is written for the author
};

// The calls of a target with a reference that a campaign compared.
struct Compared {
  std::string target;
  ReferenceCount reference;
  std::string not_compared;  // why the first call that was not compared was left out
};

// How the other outputs of a target were judged, and which dims exceed the budget of the device.
struct Judged {
  std::string target;
  ReferenceCount reference;
  OutputCount outputs;
  std::string not_judged;    // why no oracle judged the outputs of the first such call
  std::string out_of_reach;  // dims that exceed it: "N above 1000 (of 4000)"; or ""
  // Plans that ran between wide canaries instead of guard pages, because the target had faulted
  // before.
  std::uint64_t between_canaries = 0;
  // Calls that the target refused and that were removed from their plans, and the target's message
  // for the first.
  std::uint64_t refused_calls = 0;
  std::string why_refused = {};
  OwnMemory own_memory = {};
  ToolWarnings warnings = {};
  // Calls that were removed from plans, because such calls have hung.
  std::uint64_t hung_calls = 0;
};

// The scope of a campaign's verdicts.
struct Scope {
  // The oracles that judged, and those that could not because no kernel ran. Both are empty if
  // there is nothing to report.
  std::vector<std::string> judged, not_judged;
  std::string why_not_judged = "no kernel ran";
  std::vector<Unjudged> unjudged;
  std::vector<Compared> compared = {};
  std::vector<Judged> targets = {};  // in the order of the targets
  // Functions of specs that took more than half of the time: "target 't': the work function takes
  // 500 ms a call".
  std::vector<std::string> slow_functions = {};
};

// The state of a running campaign.
struct Progress {
  double seconds = 0;  // time since the campaign began
  std::uint64_t plans = 0, calls = 0;
  std::uint64_t suspects = 0, new_findings = 0, known_findings = 0;
  std::optional<double> seconds_left;       // until a time limit; empty: no time limit
  std::optional<std::uint64_t> plans_left;  // empty: no limit on plans
};

}  // namespace redzone::report
