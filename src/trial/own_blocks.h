// Memory that a target's framework allocates on the device by itself, through hooks of its own and
// not by Context::allocate(): what PyTorch's pluggable allocator is asked for.
//
// Within a trial a block is an allocation of the trial: in the guard arena where the mode has it,
// else apart in plain memory, with canaries, filled with poison in the order of its stream, and
// checked at the end. A freed one is poisoned in the order of the stream that it was allocated for
// and stays until the end of the trial. What the framework still holds then is a survivor: its
// memory is nobody else's until the framework frees it. Outside of trials blocks are plain memory.
//
// The framework decides which thread allocates, so allocate(), free() and use_on() lock. Nothing
// else may enqueue meanwhile: in a call the thread of the trial waits in the target's code.
#pragma once

#include <cstddef>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "core/own_memory.h"
#include "trial/trial_state.h"

namespace redzone::trial {

class OwnBlocks {
 public:
  // `state` outlives this.
  explicit OwnBlocks(TrialState& state) : state_(state) {}
  OwnBlocks(const OwnBlocks&) = delete;
  OwnBlocks& operator=(const OwnBlocks&) = delete;

  // From now on the framework allocates here; observations count it.
  void connect() { connected_ = true; }
  bool connected() const { return connected_; }

  // `bytes` > 0, aligned to 256, to be used in the order of `stream` (a handle of the device's; any
  // stream of the process). Null if memory is exhausted, which ends the trial, or the device is
  // lost.
  void* allocate(std::size_t bytes, void* stream);
  // Work enqueued before may still use the block. False for memory that is not from here.
  bool free(void* at);
  // Another stream uses the block too: freeing it does not wait for that stream, so the freed bytes
  // are left as they are.
  void use_on(void* at, void* stream);
  // The calling thread will wait for the device: what is held back by the gated mode runs, until
  // the next call begins.
  void open_gate();

  // From begin() to end() a trial runs. Call begin() behind TrialState::begin().
  void begin();
  // The blocks of the trial are about to be checked: later ones are of no trial.
  void close();
  // Requires an idle or a lost device; call it before TrialMemory::end(). The counts of the trial,
  // or nothing if no framework is connected.
  std::optional<OwnMemory> end();

 private:
  struct Block {
    void* stream = nullptr;
    device::Region region;
    device::Memory* memory = nullptr;
    RawBuffer* of_trial = nullptr;  // null: of no trial, or of one that has ended
    bool shared = false;            // used on other streams, too
  };

  bool fill(void* stream, const device::BufferJob& job);
  void* allocate_plain(std::size_t bytes, void* stream);
  void* allocate_in_trial(std::size_t bytes, void* stream);
  void poison_freed(Block& block);

  TrialState& state_;
  std::mutex mutex_;
  std::unordered_map<void*, Block> blocks_;
  std::vector<Block> released_;  // survivors that were freed, until nothing can use them
  OwnMemory counts_;
  bool connected_ = false;
  bool in_trial_ = false;
};

}  // namespace redzone::trial
