// Copies of small outputs for the comparison with the reference. Reading each output by itself
// waits for the device each time; these copies are enqueued together, and one wait serves all.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "trial/trial_state.h"

namespace redzone::trial {

class FetchedOutputs {
 public:
  // Must not outlive the session.
  explicit FetchedOutputs(Session& session) : session_(session) {}
  // The copies must be complete, or the session lost.
  ~FetchedOutputs();
  FetchedOutputs(const FetchedOutputs&) = delete;
  FetchedOutputs& operator=(const FetchedOutputs&) = delete;

  // Enqueues copies of the storage of outputs on stream 0, as many as fit. Copies nothing if the
  // device uses host memory, or in the first trials of a worker, in which mapping the memory for
  // the copies takes longer than they save. Call once.
  void enqueue(std::span<const CallUnit* const> units);
  // The copy of the tensor's storage, valid after the next wait for the device; null if there is no
  // copy.
  const std::byte* of(const TensorBuffer& tensor) const;

 private:
  struct Copy {
    const TensorBuffer* tensor = nullptr;
    const std::byte* at = nullptr;
  };

  Session& session_;
  device::Region region_;  // pinned
  std::vector<Copy> copies_;
};

}  // namespace redzone::trial
