// Reads the driver's core dump of a faulting kernel with cuda-gdb: names the kernel, and with
// -lineinfo its source line, at the cost of one more faulting run.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "campaign/attributor.h"
#include "exec/worker_process.h"

namespace redzone::engine {

class CoreDumpAttributor final : public campaign::Attributor {
 public:
  // `worker`: the command of a worker on the CUDA device, with an absolute path. `cuda_gdb`: path
  // of cuda-gdb, or "" if there is none. `deadline`: deadline of the trial. `interrupted` ends the
  // wait for the worker or for cuda-gdb, as `stop` of attribute() does.
  CoreDumpAttributor(exec::WorkerCommand worker, std::string cuda_gdb,
                     std::chrono::milliseconds deadline, std::function<bool()> interrupted)
      : worker_(std::move(worker)),
        cuda_gdb_(std::move(cuda_gdb)),
        deadline_(deadline),
        interrupted_(std::move(interrupted)) {}

  // Applies only to faults of the device.
  std::vector<Attribution> attribute(exec::Runner& runner, const Plan& plan, const TrialSpec& trial,
                                     const Signature& signature,
                                     const std::function<bool()>& stop) override;

 private:
  // Runs the trial in a worker that writes its core dump to `file`.
  void run(exec::Runner& runner, const Plan& plan, const TrialSpec& trial, const std::string& file,
           const std::function<bool()>& stop) const;

  exec::WorkerCommand worker_;
  std::string cuda_gdb_;
  std::chrono::milliseconds deadline_;
  std::function<bool()> interrupted_;
};

}  // namespace redzone::engine
