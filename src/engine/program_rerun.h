// Runs the program of a stored finding again under the guard, with its recorded command.
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
  // Returns a usage error if the finding is not of a program, if its folder is gone, or if its
  // command came from another store and the caller does not allow it (`trusted`); a harness error
  // if the guard's library is missing, or if the finding was stored by an incompatible build of the
  // guard.
  static Result<ProgramRerun> open(store::Store& store, Finding finding, bool trusted);

  const Finding& finding() const { return finding_; }
  const interpose::Settings& settings() const { return settings_; }

  struct Run {
    guard::ProgramRun run;
    guard::ProgramVerdict verdict;
    std::chrono::microseconds wall{0};
  };
  // Makes one run, which is ended at `until`. The program's input is empty, and its output is
  // discarded unless `shows_output`. Returns a harness error if the program cannot be run or
  // guarded.
  Result<Run> run(const interpose::Settings& settings, std::chrono::steady_clock::time_point until,
                  bool shows_output) const;

  // Stores the findings of these runs that are neither this finding nor waived; returns the id of
  // the first of them.
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
