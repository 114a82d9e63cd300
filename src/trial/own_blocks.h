// Memory that a target's framework allocates on the device through its own hooks instead of
// Context::allocate(), for example PyTorch's pluggable allocator.
//
// Within a trial a block is an allocation of the trial: it lies in the guard arena if the mode uses
// one, else in plain memory. It is filled with poison in the order of its stream and checked at the
// end of the trial, with canaries in the guard arena. There a freed block is also poisoned, in the
// order of the stream that it was allocated for. A freed block is not reused before the trial ends.
// A block that the framework still holds at the end of the trial is a survivor: its memory is not
// used for anything else until the framework frees it. Outside of trials blocks are plain memory.
//
// The framework decides which thread allocates, so allocate(), free() and use_on() lock. No other
// thread may enqueue meanwhile: during a call the thread of the trial waits in the target's code.
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
  // `state` must outlive this object.
  explicit OwnBlocks(TrialState& state) : state_(state) {}
  OwnBlocks(const OwnBlocks&) = delete;
  OwnBlocks& operator=(const OwnBlocks&) = delete;

  // From now on the framework allocates here; observations count its allocations.
  void connect() { connected_ = true; }
  bool connected() const { return connected_; }

  // Allocates `bytes` (> 0), aligned to 256, for use in the order of `stream` (a handle of any
  // stream of the process). Null if memory is exhausted, which ends the trial, or if the device is
  // lost.
  void* allocate(std::size_t bytes, void* stream);
  // Work enqueued before may still use the block. False for memory that was not allocated here.
  bool free(void* at);
  // Another stream uses the block too. Freeing does not wait for that stream, so the freed bytes
  // are not poisoned.
  void use_on(void* at, void* stream);
  // Call before the calling thread waits for the device: releases the work that the gated mode
  // holds back, until the next call begins.
  void open_gate();

  // A trial runs from begin() to end(). Call begin() after TrialState::begin().
  void begin();
  // Call before the blocks of the trial are checked: later blocks belong to no trial.
  void close();
  // Requires an idle or a lost device; call it before TrialMemory::end(). Returns the counts of the
  // trial, or nullopt if no framework is connected.
  std::optional<OwnMemory> end();

 private:
  struct Block {
    void* stream = nullptr;
    device::Region region;
    device::Memory* memory = nullptr;
    RawBuffer* of_trial = nullptr;  // null: belongs to no trial, or to one that has ended
    bool shared = false;            // used on other streams, too
  };

  bool fill(void* stream, const device::BufferJob& job);
  void* allocate_plain(std::size_t bytes, void* stream);
  void* allocate_in_trial(std::size_t bytes, void* stream);
  void poison_freed(Block& block);

  TrialState& state_;
  std::mutex mutex_;
  std::unordered_map<void*, Block> blocks_;
  std::vector<Block> released_;  // freed blocks without a trial, until no work can use them
  OwnMemory counts_;
  bool connected_ = false;
  bool in_trial_ = false;
};

}  // namespace redzone::trial
