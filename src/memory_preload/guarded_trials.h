// Trials, with the preloaded library, of targets that allocate memory themselves.
#pragma once

#include <cstdint>
#include <optional>

#include "exec/trial_host.h"
#include "memory_preload/client.h"

namespace redzone::memory_preload {

// Runs each trial of `inner` as a trial of the preloaded library, and adds the library's results to
// the observation. Code of a target that allocates memory itself must run within a GuardedCode;
// without one, a trial has no Observation::own_memory.
class GuardedTrials final : public exec::TrialHost {
 public:
  // `inner` must outlive this object. Without a client nothing is guarded; the observations then
  // count unguarded trials.
  GuardedTrials(exec::TrialHost& inner, std::optional<Client> client)
      : inner_(inner), client_(client) {}

  exec::Hello hello() override { return inner_.hello(); }
  Observation run(const Plan& plan, const TrialSpec& trial) override;
  bool device_lost() const override { return inner_.device_lost(); }

 private:
  friend class GuardedCode;
  void begin_call(std::int32_t call);
  void end_call();

  exec::TrialHost& inner_;
  std::optional<Client> client_;
  bool has_code_ = false;  // a GuardedCode existed in this trial
};

// While an object lives, the allocations of the process are attributed to this call of the target
// (-1: to no call, for example when an instance is created).
class GuardedCode {
 public:
  // `trials` must outlive this object.
  GuardedCode(GuardedTrials& trials, std::int32_t call) : trials_(trials) {
    trials_.begin_call(call);
  }
  ~GuardedCode() { trials_.end_call(); }
  GuardedCode(const GuardedCode&) = delete;
  GuardedCode& operator=(const GuardedCode&) = delete;

 private:
  GuardedTrials& trials_;
};

}  // namespace redzone::memory_preload
