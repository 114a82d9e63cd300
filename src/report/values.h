// What the commands report, as plain values. Campaigns and findings are those of the store.
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
#include "core/trial.h"
#include "core/verdict.h"

namespace redzone::report {

// A device that a target was built for.
struct TargetDevice {
  std::string device;     // "host", "cuda"
  bool runs_here = true;  // on this machine
  std::string why_not;    // one clause when it does not
  std::string plugin;     // the file it comes from
  std::string code_hash;  // of that file
};

struct TargetInfo {
  TargetSpec spec;
  std::vector<TargetDevice> devices;
};

// One run of a replayed plan.
struct ReplayRun {
  End end = End::completed;  // of the trial that decided
  Verdict verdict;
  RunResult result = RunResult::not_judged;
  std::uint64_t wall_us = 0;
  std::optional<SanitizerReport> sanitizer = {};  // of a run under a tool
};

struct ReplayResult {
  std::string subject;                // "finding 3", "repro.toml"
  std::optional<Signature> expected;  // absent: a plan that says nothing of what it shows
  std::vector<ReplayRun> runs;
  // Where a run failed with another signature than the expected one: the finding that it is.
  std::optional<std::int64_t> other_finding = {};

  // Of the runs that were judged, those that failed as expected; without an expectation those that
  // failed at all.
  Reliability reliability() const;
};

// What a campaign showed of itself before it began.
struct SelfProof {
  std::size_t caught = 0;  // planted bugs
  std::chrono::milliseconds took{0};
};

// Why plans got no verdict.
struct Unjudged {
  std::string target;
  Outcome outcome = Outcome::not_applicable;  // or inconclusive, or harness_error
  std::string reason;                         // "": various
  std::uint64_t plans = 0;
  bool spec_error = false;  // a mistake of the target's author, whom `reason` tells all
};

// What a campaign compared of a target that has a reference.
struct Compared {
  std::string target;
  ReferenceCount reference;
  std::string not_compared;  // why the first call that was not compared was not
};

// What judged the outputs of a target beside that, and which of its calls were none that the budget
// of the device has room for.
struct Judged {
  std::string target;
  ReferenceCount reference;
  OutputCount outputs;
  std::string not_judged;    // why nothing judged the outputs of the first such call
  std::string out_of_reach;  // dims: "N above 1000 (of 4000)"; or ""
};

// What a campaign's verdicts are worth.
struct Scope {
  // The oracles it judged by, and those it had no use for because no kernel ran; none of both where
  // there is nothing to say.
  std::vector<std::string> judged, not_judged;
  std::string why_not_judged = "no kernel ran";
  std::vector<Unjudged> unjudged;
  std::vector<Compared> compared = {};
  std::vector<Judged> targets = {};  // in the order of the targets
};

// A campaign that is running.
struct Progress {
  double seconds = 0;  // since it began
  std::uint64_t plans = 0, calls = 0;
  std::uint64_t suspects = 0, new_findings = 0, known_findings = 0;
  std::optional<double> seconds_left;       // of a time limit
  std::optional<std::uint64_t> plans_left;  // of a limit of plans
};

}  // namespace redzone::report
