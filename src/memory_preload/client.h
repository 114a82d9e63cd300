// The preloaded library as a worker uses it, if this process has it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/trial.h"
#include "device/device.h"
#include "memory_preload/memory_abi.h"

namespace redzone::memory_preload {

// What the library has seen in a trial.
struct EndedTrial {
  struct Damaged {
    std::int32_t call = -1;  // that has allocated the block; -1: none, or of an earlier trial
    BufferObservation block;
  };
  OwnMemory counts;
  std::vector<Damaged> damaged;  // blocks beside which something was written
};

class Client {
 public:
  // Nothing if no library with this interface is preloaded.
  static std::optional<Client> find();

  // Whether PyTorch's allocator is in the process by now.
  bool arm() { return functions_.arm() == 1; }

  void begin_trial(const TrialSpec& trial);
  // Blocks allocated from here on are named after this call (-1: after none).
  void begin_call(std::int32_t call) { functions_.begin_call(call); }
  void end_call() { functions_.end_call(); }
  // Ends the trial. What is alive is left as it is in all later trials.
  EndedTrial end_trial();

  // Names the blocks in fault reports: "torch#2", "numpy#1", or "torch#2 (freed)".
  static device::FindOtherBlock finder();

 private:
  struct Functions {
    decltype(&rz_memory_arm) arm;
    decltype(&rz_memory_begin_trial) begin_trial;
    decltype(&rz_memory_begin_call) begin_call;
    decltype(&rz_memory_end_call) end_call;
    decltype(&rz_memory_end_trial) end_trial;
    decltype(&rz_memory_count) count;
    decltype(&rz_memory_next_damaged) next_damaged;
  };
  explicit Client(const Functions& functions) : functions_(functions) {}

  Functions functions_;
};

}  // namespace redzone::memory_preload
