// Checks that report a place in the code, with the first thread that came by: the base of all but
// the race check.
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
  bool shared = false;              // in shared memory of the block
  bool warning = false;             // of what is a bug only if something else is true, too
  std::uint32_t block = 0;          // linear index in the grid
  std::uint32_t thread = 0;         // in the block
  const void* code = nullptr;       // behind the place; null: unknown, or `location` names it
  const void* elsewhere = nullptr;  // where other threads were; null: they are not compared
  std::string location = {};        // "p.cu:8"
  std::uint64_t count = 1;          // of the same kind and place
};

class SightingCheck : public KernelCheck {
 public:
  // Different ones since the last call, in the order in which they were seen; of warnings, and of
  // failures, those beyond kMost are dropped.
  std::vector<Sighting> take();
  static constexpr std::size_t kMost = 64;

  // KernelCheck and host::AccessSink: what a check does not care about.
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
  // Of the thread that runs, unless it says another.
  Sighting here(std::string kind) const;
  void see(Sighting sighting);

  std::uint32_t block_ = 0, thread_ = 0;

 private:
  std::vector<Sighting> seen_;
};

}  // namespace redzone::device
