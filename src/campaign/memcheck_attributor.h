// Runs memcheck on a failure that concerns memory: reports the exact access with its source line.
#pragma once

#include <chrono>
#include <string>

#include "campaign/attributor.h"
#include "exec/executor.h"

namespace redzone::campaign {

class MemcheckAttributor final : public Attributor {
 public:
  // `problem`: why memcheck cannot be used here, "" if it can. `deadline`: deadline of a trial
  // without the tool.
  MemcheckAttributor(std::string problem, std::chrono::milliseconds deadline)
      : problem_(std::move(problem)), deadline_(deadline) {}

  // Runs one trial with blocking launches, in which each record belongs to a call; if it shows
  // nothing, one with the recorded launch mode. The runner must support trials under tools.
  std::vector<Attribution> attribute(exec::Runner& runner, const Plan& plan, const TrialSpec& trial,
                                     const Signature& signature,
                                     const std::function<bool()>& stop) override;

 private:
  std::string problem_;
  std::chrono::milliseconds deadline_;
};

}  // namespace redzone::campaign
