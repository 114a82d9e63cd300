// Runs the whole benchmark with an engine's options, and the process that runs a workload without a
// harness.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "bench/report.h"
#include "bench/setup.h"
#include "engine/options.h"
#include "worker_library/worker_side.h"

namespace redzone::bench {

// The internal command that starts this process.
inline constexpr const char* kBareCommand = "bench-bare";

struct RunOptions {
  engine::EngineOptions engine;  // same options as for a campaign
  std::set<Part> parts;
  bool quick = false;                     // fewer plans and puzzles
  std::vector<std::string> puzzles = {};  // for the parts `detection` and `modes`; all if empty
  // For the part `guard`: the programs, all if empty; an earlier result (JSON) to continue from, ""
  // for none; and a function that gets the report after each process.
  std::vector<std::string> programs = {};
  std::string earlier = {};
  std::function<void(const Report&)> keep = [](const Report&) {};
  std::string commit, command;  // commit of the build, and command as typed; for the report
  std::function<void(const std::string& what)> say = [](const std::string&) {};
};

// If interrupted, returns the measurements so far, with Report::interrupted set.
Result<Report> run(const RunOptions& options);

// Serves the named workload over the socket; returns the exit code.
Result<int> serve_bare(const worker::WorkerSideOptions& side, const std::string& workload,
                       bool quick, int socket);

}  // namespace redzone::bench
