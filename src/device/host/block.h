// One resident block: the state of its threads, its barrier and its warps. Pure bookkeeping; the
// engine switches between threads.
#pragma once

#include <redzone/host_thread.h>

#include <cstdint>
#include <string>
#include <vector>

#include "device/device.h"
#include "device/host/fiber_pool.h"
#include "device/host/order.h"

namespace redzone::device {

enum class ThreadState : std::uint8_t {
  fresh,  // not started
  ready,  // suspended, may continue
  running,
  barrier,  // waits at __syncthreads
  warp,     // waits in a warp operation
  done,
};

inline constexpr bool runnable(ThreadState s) {
  return s <= ThreadState::ready;
}

// Threads run in rounds: each round visits every thread once, in the order of a walk, and runs it
// until it ends or waits. Threads of starved warps are skipped. Warp operations are released as
// soon as possible, the barrier between rounds.
class Block {
 public:
  void start(host::Index3 index, unsigned threads);
  void begin_round(Rng& rng);
  // Makes these warps (a bit set; 0: none) starve for `rounds` rounds, which form a stint.
  void starve(std::uint32_t warps, unsigned rounds);
  bool starving() const { return starved_ != 0; }
  bool stint_over() const { return stint_rounds_ == 0; }

  // The next runnable thread of this round that does not starve, which is then running; -1 at the
  // end of the round.
  int next();
  bool fresh(int thread) const { return fiber[thread] == nullptr; }

  // The running thread `t` arrives at the barrier.
  void arrive_at_barrier(int t, bool holds);
  // The running thread `t` arrives in a warp operation. True if it may continue at once.
  bool arrive_in_warp(int t, std::uint32_t mask, std::uint64_t value, unsigned source,
                      std::uint64_t poison);
  void yield(int t);
  void stall(int t, bool again);
  void finish(int t, std::uint64_t poison);

  unsigned live() const { return live_; }
  unsigned threads() const { return threads_; }
  unsigned waiting_to_run() const { return runnable_; }
  unsigned warps() const { return static_cast<unsigned>(warps_.size()); }
  // Whether every thread has run, so that the block needs no further stack.
  bool all_started() const;
  // Releases the barrier if every live thread has arrived.
  bool release_barrier();
  // Since begin_round(): whether any thread ended or reached a wait, and whether any thread
  // yielded.
  bool progressed() const { return progressed_; }
  bool yielded() const { return yielded_; }
  // True if since begin_round() all threads that can run have only stalled again.
  bool all_stalled() const { return yielded_ && !progressed_ && !moved_ && !starving(); }
  std::uint32_t live_lanes(int t) const { return warps_[t / 32].live; }
  const host::BarrierResult& barrier_result() const { return released_; }
  const host::WarpResult& warp_result(int t) const { return lanes_[t].result; }
  // Lanes of a warp that were released together, and those of them that read the value of a lane
  // which took no part. Appended to `releases` from now on; null: not recorded.
  struct Release {
    unsigned warp;
    std::uint32_t lanes;
    std::uint32_t asked_absent;
  };
  void note_releases(std::vector<Release>* releases) { releases_ = releases; }
  // Describes for people where the threads of a stuck block wait.
  std::string stuck_at() const;

  host::Index3 index = {};
  std::vector<Fiber*> fiber;  // context of each suspended thread; null while fresh
  Region shared = {};         // dynamic shared memory; capacity kept between blocks
  void* dynamic_shared = nullptr;
  std::vector<std::byte> statics;      // static shared memory while another block is current
  unsigned idle_rounds = 0;            // rounds in which threads only yielded
  std::vector<host::BulkCopy> copies;  // issued, but not yet arrived
  bool triggered = false;              // its dependents no longer wait for it

 private:
  struct Lane {
    std::uint32_t mask;
    unsigned source;
    std::uint64_t value;
    host::WarpResult result;
  };
  struct Warp {
    std::uint32_t live;
    std::uint32_t waiting;
  };

  void release_group(unsigned warp, std::uint32_t mask, std::uint64_t poison);

  std::vector<ThreadState> state_;
  std::vector<Lane> lanes_;
  std::vector<Warp> warps_;
  std::vector<Release>* releases_ = nullptr;
  Walk walk_;
  std::uint32_t starved_ = 0;  // bit set of warps
  unsigned stint_rounds_ = 0;  // remaining rounds of the stint
  unsigned threads_ = 0, live_ = 0, runnable_ = 0, at_barrier_ = 0, holding_ = 0;
  host::BarrierResult released_ = {};
  bool progressed_ = false, yielded_ = false, moved_ = false;
};

// Inline: called at every switch.
inline int Block::next() {
  while (runnable_ > 0 && !walk_.done()) {
    const int t = static_cast<int>(walk_.next());
    if (runnable(state_[t]) && ((starved_ >> (t / 32)) & 1u) == 0) {
      state_[t] = ThreadState::running;
      --runnable_;
      return t;
    }
  }
  return -1;
}

inline void Block::arrive_at_barrier(int t, bool holds) {
  state_[t] = ThreadState::barrier;
  ++at_barrier_;
  holding_ += holds ? 1 : 0;
  progressed_ = true;
}

}  // namespace redzone::device
