// The first minute of a user on a new machine: the campaign of `redzone run --puzzles`, unchanged,
// and the rate of the kernels while two faulting targets run beside them.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bench/report.h"
#include "bench/setup.h"
#include "campaign/campaign.h"
#include "core/finding.h"
#include "engine/options.h"

namespace redzone::bench {

// Collects the reports of a running campaign.
class MinuteWatch {
 public:
  // `puzzles`: the names of the targets that are expected to fail. `time`: the campaign's limit.
  MinuteWatch(const std::vector<std::string>& puzzles, std::chrono::milliseconds time);

  // Callbacks for CampaignOptions.
  void progress(const campaign::Progress& progress);
  void found(const Finding& finding, double seconds);

  // Sorted by puzzle.
  const std::vector<MinutePuzzle>& puzzles() const { return puzzles_; }

 private:
  MinutePuzzle* find(std::string_view name);

  double part_s_;  // length of one part of the time; see MinutePuzzle::parts
  std::vector<MinutePuzzle> puzzles_;
  std::vector<std::optional<std::size_t>> last_part_;  // for each puzzle, the last part with a plan
};

// Up to two targets that faulted in the campaign, in the order of its findings.
std::vector<std::string> faulting_targets(const std::vector<Finding>& findings);

// Runs the campaigns, each on a new engine. Uses the time limits of `effort` and its first seed.
Result<Minute> measure_minute(const engine::EngineOptions& options, const Effort& effort,
                              const std::function<void(const std::string&)>& say);

}  // namespace redzone::bench
