// Trials of targets that allocate by themselves, with the preloaded library.
#pragma once

#include <cstdint>
#include <optional>

#include "exec/trial_host.h"
#include "memory_preload/client.h"

namespace redzone::memory_preload {

// Runs each trial of `inner` as a trial of the preloaded library, and adds to its observation what
// that has seen. The code of a target that allocates by itself runs within a GuardedCode; a trial
// without any has no Observation::own_memory.
class GuardedTrials final : public exec::TrialHost {
 public:
  // `inner` outlives this. No client: nothing is guarded, which the observations say.
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
  bool has_code_ = false;  // in this trial
};

// While it lives, what the process allocates is of the target, in this call (-1: in none, as when
// an instance is made).
class GuardedCode {
 public:
  // `trials` outlives this.
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
