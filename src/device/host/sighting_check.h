// Checks that report a place in the code, with the first thread that passed it: the base of all
// checks except the race check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/trial.h"
#include "device/host/kernel_check.h"

namespace redzone::device {

struct Sighting {
  std::string kind;  // of the record
  Access access = Access::unknown;
  std::uint32_t bytes = 0;
  const void* at = nullptr;
  bool shared = false;         // in shared memory of the block
  bool warning = false;        // a bug only under a condition that the check cannot determine
  std::uint32_t block = 0;     // linear index in the grid
  std::uint32_t thread = 0;    // index in the block
  const void* code = nullptr;  // address just behind the place; null: unknown, or `location` has it
  const void* elsewhere = nullptr;  // place of other threads; null: not compared
  std::string location = {};        // "p.cu:8"
  std::uint64_t count = 1;          // sightings of the same kind and place
};

class SightingCheck : public KernelCheck {
 public:
  // The distinct sightings since the last call, in the order of detection. At most kMost warnings
  // and kMost failures are kept.
  std::vector<Sighting> take();
  static constexpr std::size_t kMost = 64;

  // KernelCheck and host::AccessSink: empty defaults for notifications that a check does not use.
  void begin_launch(unsigned, const std::byte*, std::span<std::byte>) override {}
  void start_block(std::uint32_t) override {}
  void end_block(std::uint32_t) override {}
  void enter(std::uint32_t block, std::span<const std::byte>) override { block_ = block; }
  void run(int thread) override { thread_ = static_cast<std::uint32_t>(thread); }
  void barrier() override {}
  void passed_without(unsigned) override {}
  void sync_lanes(unsigned, std::uint32_t) override {}
  void asked_absent_lane(unsigned) override {}
  void pause(bool) override {}
  void end_launch() override {}
  void access(const void*, std::size_t, host::AccessKind, const void*) override {}
  void fence(host::FenceScope) override {}
  void arrive(const void*) override {}
  void waited(const void*) override {}
  void at_barrier(const void*) override {}
  void in_warp(std::uint32_t, const void*) override {}
  void undefined(const host::Undefined&) override {}

 protected:
  // A sighting of the running thread, unless the caller sets another.
  Sighting here(std::string kind) const;
  void see(Sighting sighting);

  std::uint32_t block_ = 0, thread_ = 0;

 private:
  std::vector<Sighting> seen_;
};

}  // namespace redzone::device
