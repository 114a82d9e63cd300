// A worker's interface to the preloaded library, if the library is in this process.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/trial.h"
#include "device/device.h"
#include "memory_preload/memory_abi.h"

namespace redzone::memory_preload {

// What the library has observed in a trial.
struct EndedTrial {
  struct Damaged {
    // The call that allocated the block; -1: no call, or a call of an earlier trial
    std::int32_t call = -1;
    BufferObservation block;
  };
  OwnMemory counts;
  std::vector<Damaged> damaged;  // blocks with overwritten canaries
};

class Client {
 public:
  // nullopt if no library with this interface is preloaded.
  static std::optional<Client> find();

  // True if PyTorch's allocator is loaded in the process.
  bool arm() { return functions_.arm() == 1; }

  void begin_trial(const TrialSpec& trial);
  // Blocks allocated from now on are attributed to this call (-1: to no call).
  void begin_call(std::int32_t call) { functions_.begin_call(call); }
  void end_call() { functions_.end_call(); }
  // Ends the trial. Blocks that are alive stay unchanged in all later trials.
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
