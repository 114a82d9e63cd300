// The dependencies of a night. Built over an engine (over_engine.h), or from doubles in tests.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "campaign/campaign.h"
#include "campaign/self_proof.h"
#include "core/utc.h"
#include "engine/site.h"
#include "exec/executor.h"

namespace redzone::nightly {

// A monotonic clock for durations, and the calendar.
struct Clock {
  using Time = std::chrono::steady_clock::time_point;

  std::function<Time()> now = std::chrono::steady_clock::now;
  // The time `days` days ago: UTC, ISO 8601.
  std::function<std::string(double days)> days_ago = utc_days_ago;

  double seconds_since(Time begun) const {
    return std::chrono::duration<double>(now() - begun).count();
  }
};

struct Means {
  exec::Executor& executor;
  const engine::Site& site;                  // the device, its targets and oracles
  std::chrono::milliseconds deadline{2000};  // of a trial
  // Checks that planted bugs are caught here.
  std::function<Result<campaign::SelfProof>()> prove = {};
  // Returns the plans of a target, generated from the seed.
  std::function<std::unique_ptr<campaign::PlanSource>(const TargetSpec&, std::uint64_t seed)>
      plans = {};
  campaign::SimplifyFor simplify = {};
  // Options of a campaign with these limits (0: no limit), to which the night adds its own.
  std::function<campaign::CampaignOptions(std::chrono::milliseconds time, std::uint64_t plans)>
      fuzzing = {};
  // Returns true if the user wants the night to end.
  std::function<bool()> interrupted = [] { return false; };
  Clock clock = {};

  // Output for people while the night runs: lines of text, the progress of the fuzzing, and the end
  // of the fuzzing.
  std::function<void(const std::string& line)> note = [](const std::string&) {};
  std::function<void(const campaign::Progress&)> progress = [](const campaign::Progress&) {};
  std::function<void()> fuzzed = [] {};
};

}  // namespace redzone::nightly
