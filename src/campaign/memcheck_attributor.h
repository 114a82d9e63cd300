// What memcheck says of a failure that is about memory: the exact access, with its source line.
#pragma once

#include <chrono>
#include <string>

#include "campaign/attributor.h"
#include "exec/executor.h"

namespace redzone::campaign {

class MemcheckAttributor final : public Attributor {
 public:
  // `problem`: why memcheck cannot be asked here, "" when it can. `deadline` is that of a trial
  // without the tool.
  MemcheckAttributor(std::string problem, std::chrono::milliseconds deadline)
      : problem_(std::move(problem)), deadline_(deadline) {}

  // One trial with blocking launches, where each record belongs to a call; where that shows
  // nothing, one as it was recorded. The runner knows trials under tools.
  std::vector<Attribution> attribute(exec::Runner& runner, const Plan& plan, const TrialSpec& trial,
                                     const Signature& signature,
                                     const std::function<bool()>& stop) override;

 private:
  std::string problem_;
  std::chrono::milliseconds deadline_;
};

}  // namespace redzone::campaign
