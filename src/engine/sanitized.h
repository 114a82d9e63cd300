// Workers under compute-sanitizer, or with plugins that were built for checks, for commands.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/device_traits.h"
#include "core/temporary_folder.h"
#include "exec/pool.h"

namespace redzone::engine {

// Creates the pools for an engine whose native workers are started by `command` on `device`. Owns
// the folder of the pools' logs and must outlive the pools. `interrupted`: see EngineOptions.
class SanitizedPools {
 public:
  SanitizedPools(const DeviceTraits& device, exec::WorkerCommand command,
                 std::function<bool()> interrupted)
      : device_(device), command_(std::move(command)), interrupted_(std::move(interrupted)) {}

  // Why trials cannot run under the tool here; "" if they can, as far as can be determined without
  // trying.
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
