// What memcheck says of a failure that is about memory: the exact access, with its source line.
#pragma once

#include <chrono>
#include <string>

#include "campaign/attributor.h"
#include "exec/executor.h"

namespace redzone::campaign {

class MemcheckAttributor final : public Attributor {
 public:
  // `executor` knows trials under tools; both outlive this. `problem`: why memcheck cannot be asked
  // here, "" when it can. `deadline` is that of a trial without the tool.
  MemcheckAttributor(exec::Executor& executor, std::string problem,
                     std::chrono::milliseconds deadline)
      : executor_(executor), problem_(std::move(problem)), deadline_(deadline) {}

  // One trial with blocking launches, where each record belongs to a call; where that shows
  // nothing, one as it was recorded.
  std::vector<Attribution> attribute(const Plan& plan, const TrialSpec& trial,
                                     const Signature& signature,
                                     const std::function<bool()>& stop) override;

 private:
  exec::Executor& executor_;
  std::string problem_;
  std::chrono::milliseconds deadline_;
};

}  // namespace redzone::campaign
