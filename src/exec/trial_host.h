// The interface through which a worker process runs trials.
#pragma once

#include <cstdint>
#include <string>

#include "core/trial.h"

namespace redzone::exec {

// What a worker reports about itself before its first trial; becomes part of a finding's
// environment.
struct Hello {
  std::string device;             // "host", "NVIDIA H100 80GB HBM3"
  std::string driver;             // "580.159.04", "" on the host
  int compute_capability = 0;     // 90; 0 on the host
  std::string nvrtc;              // version of the run-time compiler, "" if there is none
  std::int64_t memory_bytes = 0;  // memory of the device

  bool operator==(const Hello&) const = default;
};

// Implemented over a device by the trial runner. Used from one thread by worker_loop(), which sets
// job and trial in the black box before run() and resets its call indices, kernel and fault; the
// host sets the other fields.
class TrialHost {
 public:
  virtual ~TrialHost() = default;
  virtual Hello hello() = 0;
  // Failures of the target are reported in the observation; no exception is thrown for them.
  virtual Observation run(const Plan& plan, const TrialSpec& trial) = 0;
  // True after a sticky fault, or if this process cannot run another trial for another reason: the
  // worker then reports the observation and exits with _exit.
  virtual bool device_lost() const = 0;
};

}  // namespace redzone::exec
