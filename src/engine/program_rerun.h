// Runs the program of a stored finding again, under the guard, as it was run.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/finding.h"
#include "guard/guarded_run.h"
#include "guard/program_verdict.h"
#include "store/store.h"

namespace redzone::engine {

class ProgramRerun {
 public:
  // A usage error if the finding is of no program, or if its command came from another store and
  // nobody says that it may run here (`trusted`); a harness error without the guard's library, or
  // if another build's guard has stored the finding.
  static Result<ProgramRerun> open(store::Store& store, Finding finding, bool trusted);

  const Finding& finding() const { return finding_; }
  const interpose::Settings& settings() const { return settings_; }

  struct Run {
    guard::ProgramRun run;
    guard::ProgramVerdict verdict;
    std::chrono::microseconds wall{0};
  };
  // One run, which is ended at `until`. It has no input, and its output goes nowhere unless
  // `shows_output`. A harness error if it cannot be run or guarded.
  Result<Run> run(const interpose::Settings& settings, std::chrono::steady_clock::time_point until,
                  bool shows_output) const;

  // Stores the findings of these runs that are neither the finding nor waived; the first of them.
  Result<std::optional<std::int64_t>> store_others(store::Store& store,
                                                   const std::vector<guard::ProgramRun>& runs,
                                                   const std::string& command) const;

 private:
  Finding finding_;
  std::filesystem::path library_;
  interpose::Settings settings_;
  std::set<std::string> waived_;  // hashes of signatures
};

}  // namespace redzone::engine
