// Workers under compute-sanitizer, or with plugins that were built for checks, for commands.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/device_traits.h"
#include "core/temporary_folder.h"
#include "exec/pool.h"

namespace redzone::engine {

// Makes the pools for an engine whose native workers are started by `command` on `device`. Owns the
// folder of their logs and must outlive them. `interrupted`: as in EngineOptions.
class SanitizedPools {
 public:
  SanitizedPools(const DeviceTraits& device, exec::WorkerCommand command,
                 std::function<bool()> interrupted)
      : device_(device), command_(std::move(command)), interrupted_(std::move(interrupted)) {}

  // Why trials cannot run under the tool here; "" if they can, as far as is known without trying.
  std::string problem(SanitizerTool tool) const;
  // A pool of one warm worker, or a harness error with the reason.
  Result<std::unique_ptr<exec::Executor>> open(SanitizerTool tool);

 private:
  std::string problem_of_checks() const;

  const DeviceTraits& device_;
  exec::WorkerCommand command_;
  std::function<bool()> interrupted_;
  std::unique_ptr<TemporaryFolder> logs_;
};

}  // namespace redzone::engine
