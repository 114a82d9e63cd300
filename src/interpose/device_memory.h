// The blocks that the program allocates from the driver, each between guard pages. Pure bookkeeping
// over a table of driver functions, so it is tested over a driver that is not one.
//
// A block lives in a region: a slot of its own, mapped between unmapped pages, or a cell of a slot
// that small blocks share. Around the block the region holds canaries. A freed block is retired: in
// the order of the stream that frees it, its bytes are poisoned, and after that its canaries are
// copied to the host and an event is recorded. Once the event has passed, the canaries are
// compared, and the region is unmapped or used again. Which of both is decided at the free: one in
// the order of no stream waits for the event if its region is to be unmapped, so that each later
// access faults.
//
// While a stream captures, no mapping, event, query or memset is made: frees wait for the end of
// the capture, and blocks come from the driver unless a freed region fits as it is.
//
// No wait for the device holds up another thread: what waits lets go of the mutex, and looks again
// afterwards at what it knew.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "interpose/driver.h"
#include "interpose/launch_log.h"
#include "interpose/lent.h"
#include "interpose/recorder.h"
#include "interpose/settings.h"

namespace redzone::interpose {

// When a call takes effect: in the order of a stream, or for all streams at once (none).
using Order = std::optional<CuStream>;

class DeviceMemory {
 public:
  // All of them outlive this object.
  DeviceMemory(const Driver& driver, const Settings& settings, Recorder& recorder,
               LaunchLog& launches);
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // A guarded block of the current context, at least one byte. Empty if it cannot be guarded: the
  // reason was counted, and the caller asks the driver.
  std::optional<CuAddress> allocate(std::size_t bytes, Order order, const Frames& from);

  enum class Freed : std::uint8_t {
    foreign,  // not an address of the guard: the caller asks the driver
    freed,
    wrong,  // reported: inside a block, or freed before
  };
  struct FreeResult {
    Freed freed = Freed::foreign;
    int result = kCuSuccess;  // of the call, unless foreign: the error of a broken context
  };
  FreeResult free(CuAddress address, Order order, const char* call, const Frames& from);

  // Work of that stream uses the block as well: at its free in the order of a stream, both streams
  // are waited for. Nothing if it is no live block.
  void record_stream(CuAddress address, CuStream stream);

  struct View {
    CuAddress address = 0;
    std::size_t bytes = 0;
    CuContext context = nullptr;
    std::uint64_t ordinal = 0;
  };
  // The live block that contains the address.
  std::optional<View> find(CuAddress address) const;

  // Memory that a call of the program names, from its first to its last byte.
  struct Range {
    CuAddress at = 0;
    std::size_t bytes = 0;
    Access access = Access::unknown;
    const char* call = "";
  };
  // Reports a range that reaches beyond its block, or is in a freed one; once for each block.
  void check_range(const Range& range);

  // Before a stream begins a capture. False: it captures already, so a refusal says nothing.
  bool capture_begins(CuStream stream);
  // A capture was refused, or has ended.
  void capture_over(CuStream stream);
  // Around the destruction of a stream. False before: it does not capture, and nothing comes after.
  bool capture_dies(CuStream stream);
  void capture_died();
  bool capturing() const;
  // True if the stream captures.
  bool captures(CuStream stream) const;

  // A call of the driver itself has found no memory on the device, that of the current context if
  // none is named: gives back what is kept for later blocks, or waits, for a limited time, for what
  // the program has freed. False if there is none.
  bool make_room(std::optional<CuDevice> device = std::nullopt);
  // Calls `allocate` again as long as it finds no memory and make_room() makes some, for kMostWait
  // in all.
  static constexpr std::chrono::seconds kMostWait{2};
  template <class Allocate>
  int with_room(Allocate allocate, std::optional<CuDevice> device = std::nullopt) {
    using Time = std::chrono::steady_clock;
    int result = allocate();
    if (result != kCuOutOfMemory) return result;
    const auto until = Time::now() + kMostWait;
    while (result == kCuOutOfMemory && Time::now() < until && make_room(device))
      result = allocate();
    return result;
  }
  // Memory of the current context's device that the program has freed and the driver has not.
  std::size_t kept_bytes() const;

  // A pool that the program has made, and one that it destroys.
  void pool_created(CuPool pool, const CuPoolProps& properties);
  void pool_destroyed(CuPool pool);
  // True if memory of the pool may be the guard's: it is on the device of the stream, and not made
  // to be exported.
  bool guards_pool(CuPool pool, CuStream stream) const;

  // The current context may access the memory of the other one's device from now on, as with
  // memory of the driver's own.
  void peer_enabled(CuContext other);

  // The context is destroyed: its blocks, streams and events are gone.
  void context_gone(CuContext context);

  // The program retains a primary context, or is about to release it: true for the last time.
  void primary_retained(CuDevice device);
  bool primary_releases(CuDevice device);

  // A call of the program returned this code. The first sticky one of each context is reported.
  // Without a context it is the current one's.
  void check_result(int result, const char* call, CuContext context = nullptr);
  // True if the current context has had such an error: nothing is guarded in it.
  bool is_broken() const;

  // After a wait of the program: finishes blocks whose free the wait has included.
  void retire_passed(const char* call);

  // Blocks so far.
  std::uint64_t blocks() const { return ordinal_.load(std::memory_order_relaxed); }

  // After a launch, once it is over: compares the canaries of all live blocks. What is wrong was
  // right after the last of these checks, so it is reported with the launch.
  void check_after(std::uint64_t launch);

  // At the end of a process or of its context: compares the canaries of all blocks, live and freed.
  // Waits for the device, but only for a limited time. An error that the program has not asked for
  // is reported.
  void settle();

  // Around fork(). If the driver was used, it does not work in the child, which has none of this.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  void abandon() { abandoned_ = abandoned_ || !contexts_.empty(); }

  // The blocks so far were the guard's own; the next one is the program's first.
  void begin_program();

 private:
  using Lock = std::unique_lock<std::mutex>;
  // Default streams are of a context, and the thread's of a thread as well.
  using StreamKey = std::tuple<CuStream, CuContext, int>;

  struct Slot {
    CuAddress reservation = 0, base = 0;
    std::size_t reserved_bytes = 0, bytes = 0;
    CuMemoryHandle handle = 0;
    CuDevice device = 0;
    std::size_t sink_bytes = 0;  // mapped on each side; 0: there are guard pages
  };
  // device_sinks.cpp
  struct Sink {
    CuContext context = nullptr;
    CuAddress at = 0;  // where the guard itself reaches it
    std::size_t bytes = 0;
    CuMemoryHandle handle = 0;
    unsigned char* host = nullptr;  // pinned, for a copy
    bool is_mapped = false;
  };
  struct Region {
    Slot slot;  // its own, or the one that it shares
    CuAddress base = 0;
    std::size_t bytes = 0;
    bool shared = false;
    CuContext context = nullptr;
    // The block for which poison and canaries are in place.
    CuAddress painted_at = 0;
    std::size_t painted_bytes = 0;
  };
  struct Block {
    Region region;
    CuAddress address = 0;
    std::size_t bytes = 0;
    std::uint64_t ordinal = 0;
    bool is_freed = false, is_reported = false;  // reported: its canaries are known to be dirty
    Frames allocated, freed;
    bool is_range_reported = false;
    std::vector<CuStream> users = {};  // of record_stream()
  };
  struct Pending {
    Block block;
    CuEvent done = nullptr;
    unsigned char* canaries = nullptr;  // pinned; those before the block, then those after
    bool copied = false;                // false: a call failed, so the canaries say nothing
    bool unmap = false;                 // and not used again
  };
  // Buffers into which the device may still write.
  struct Batch {
    CuContext context = nullptr;
    CuEvent done = nullptr;
    std::vector<unsigned char*> canaries;
  };
  struct PerContext {
    std::uint64_t id = 0;  // a later context may have the same handle
    // All non-blocking. The first waits for all that the context was given, the second for nothing.
    // Of the lanes each waits for streams in whose order blocks are freed: what is freed behind a
    // kernel that takes long holds up no block that another stream frees.
    CuStream own = nullptr, painting = nullptr;
    std::vector<CuStream> lanes;
    std::map<StreamKey, std::size_t> lane_of;  // by the freeing stream
    std::vector<CuEvent> events;
    std::vector<unsigned char*> canaries;
    std::vector<Slot> shared_slots;
  };
  struct PerDevice {
    bool can_map = false;
    std::size_t granularity = 0, budget_bytes = 0, mapped_bytes = 0;
    std::set<CuDevice> peers;  // that may access its memory
  };
  struct Zone {
    CuAddress at = 0;
    std::size_t bytes = 0;
  };
  // Regions of one size, by context, size and whether they are shared.
  using SpareKey = std::tuple<CuContext, std::size_t, bool>;

  // device_memory.cpp
  CuAddress place(const Region& region, std::size_t bytes) const;
  int paint(Region& region, CuAddress at, std::size_t bytes, CuStream stream);
  int paint_for_all(Lock& lock, Region& region, CuAddress at, std::size_t bytes);
  std::optional<CuAddress> allocate_ready(std::size_t bytes, CuContext context, const Frames& from);
  // The number of the program's next block; nothing, and counted, if the settings leave it out.
  std::optional<std::uint64_t> next_ordinal();
  CuAddress give_out(const Region& region, CuAddress at, std::size_t bytes, std::uint64_t ordinal,
                     const Frames& from);
  std::optional<CuAddress> refuse(Counter reason);
  // Does nothing unless the result is sticky and the first of the context.
  void report_error(CuContext context, int result, const char* call);
  bool is_broken(CuContext context) const { return errors_.count(context) != 0; }
  FreeResult report_bad_free(const Block& block, CuAddress address, bool freed, const char* call,
                             const Frames& from);
  // device_evidence.cpp
  void name_launch(FindingRecord& finding, std::uint64_t launch) const;
  // Whether the word points to a block that was among the first `blocks`.
  bool points_to(CuAddress word, std::uint64_t blocks, PointerRecord& out) const;
  void save_blocks() const;
  // device_ranges.cpp
  void report_range(Block& block, const Range& range, Side side, std::uint64_t distance_bytes);
  // device_contexts.cpp
  // The context of a stream; `current` for default streams.
  CuContext context_of(CuStream stream, CuContext current) const;
  bool on_one_device(CuContext first, CuContext second) const;
  static StreamKey key_of(CuStream stream, CuContext context);
  // Of the current context, which it returns.
  StreamKey capture_key(CuStream stream, CuContext& context) const;
  bool holds_back() const { return !captures_.empty() || dying_captures_ != 0; }
  void retire_deferred(Lock& lock);
  PerContext* per_context(CuContext context);
  // Runs `wait` without the mutex. kCuInvalidContext if the context has gone meanwhile.
  template <class Wait>
  int without_lock(Lock& lock, CuContext context, Wait wait);
  // Bounded: the device may itself wait for the program.
  int wait_for(Lock& lock, CuContext context, CuEvent event, int most_ms);
  // device_slots.cpp
  PerDevice& per_device(CuDevice device);
  std::size_t region_bytes(std::size_t bytes, const PerDevice& device) const;
  std::optional<Region> spare_region(const SpareKey& key, std::size_t bytes, bool painted);
  std::optional<Region> take_region(Lock& lock, std::size_t bytes, CuContext context,
                                    CuDevice device);
  std::optional<Region> take_cell(Lock& lock, std::size_t bytes, CuContext context,
                                  CuDevice device);
  int map_slot(Lock& lock, std::size_t bytes, CuContext context, CuDevice device, Slot& out);
  int give_access(const Slot& slot);
  int try_map_slot(std::size_t bytes, CuDevice device, Slot& out);
  // The addresses are kept from other uses, or given back and no longer known as freed ones.
  void unmap(const Slot& slot, bool keep_addresses);
  void forget(const Region& region);  // of a context that is gone
  bool trim(CuDevice device, std::size_t bytes = SIZE_MAX);
  bool wait_for_free(Lock& lock, CuContext context, CuDevice device,
                     std::uint64_t most_us = UINT64_MAX);
  // device_retirement.cpp
  Zone zone_before(const Block& block) const;
  Zone zone_after(const Block& block) const;
  // None, and why, if the driver has no more.
  Lent<CuEvent> take_event(PerContext& context, int& failed);
  Lent<unsigned char*> take_canaries(PerContext& context, int& failed);
  int order_after_all(Lock& lock, CuContext context);
  CuStream lane_of(CuStream stream, CuContext of, PerContext& state);
  int order_after(CuStream stream, CuContext of, CuStream waiting);
  // The same for a stream in whose order a block is freed, and all that use it.
  int order_after_users(const Block& block, CuStream stream, CuContext current, CuStream waiting);
  int copy_canaries(const Block& block, CuStream stream, unsigned char* to);
  int poison_freed(const Block& block, CuStream stream);
  // `current`: the context in which the free was called.
  int retire(Lock& lock, const Block& block, Order order, CuContext current);
  // Finishes freed blocks whose event has passed; queries at most `most` events, of all streams in
  // turn. Reports an error.
  void poll(const char* call, std::size_t most = SIZE_MAX);
  std::size_t pending_blocks() const;
  // Finishes the freed block at this address, if it is to be unmapped, once its event has passed,
  // for at most kFreeWaitMs. Other threads have the mutex meanwhile: if one of them finishes the
  // block, breaks the context or begins a capture, this returns.
  void finish_now(Lock& lock, CuAddress address, const char* call);
  bool choose_to_unmap(const Region& region);
  void finish(Pending& pending);
  // `launch`: after which this is; 0: after none in particular.
  bool compare(const Block& block, const unsigned char* canaries, std::uint64_t launch = 0);
  void bury(const Block& block);
  // device_sinks.cpp
  int map_at(CuAddress at, std::size_t bytes, CuMemoryHandle handle, CuDevice device);
  int paint_sink(Lock& lock, const Sink& sink);
  void make_sink(Lock& lock, CuContext context, CuDevice device);
  int build_sink(Lock& lock, Sink& sink, CuDevice device);
  void drop_sink(const Sink& sink);
  void map_sinks(Slot& slot);
  void unmap_sinks(const Slot& slot);
  void forget_sinks(CuContext context);
  void report_sink(const Sink& sink, std::uint64_t launch);
  int compare_sink(Lock& lock, CuDevice device, std::uint64_t launch);
  // Arguments as for compare_live().
  bool compare_sinks(Lock& lock, const char* call, std::uint64_t launch);
  // device_settling.cpp
  bool awaits_device() const;
  // `call`: that learns of an error. `launch`: as for compare(). False: not all were compared.
  bool compare_live(Lock& lock, const char* call, std::uint64_t launch);
  // Compares blocks of the context from address `next` on, and moves it past them. The first
  // failure; 0 for none.
  int compare_batch(Lock& lock, CuContext context, CuAddress& next, std::uint64_t launch);

  const Driver& driver_;
  const Settings& settings_;
  Recorder& recorder_;
  LaunchLog& launches_;
  mutable std::mutex mutex_;
  std::map<CuAddress, Block> live_;
  // The last freed blocks, while no new block has their address.
  std::map<CuAddress, Block> freed_;
  // With the numbers of the blocks: an address may be that of a later one by now.
  std::deque<std::pair<CuAddress, std::uint64_t>> freed_order_;
  // By the stream in which their events are, where they pass in this order. None is empty.
  std::map<StreamKey, std::deque<Pending>> pending_;
  StreamKey next_polled_{};
  std::deque<Block> deferred_;  // freed while a stream captured
  std::vector<Batch> batches_;  // given up; their buffers come back
  std::map<SpareKey, std::vector<Region>> spare_;
  std::map<StreamKey, CuContext> captures_;
  int dying_captures_ = 0;  // of streams that are being destroyed
  // Calls that wait for the device without the mutex. A capture begins when there are none.
  int waits_ = 0;
  std::condition_variable no_waits_;
  std::map<CuContext, PerContext> contexts_;
  std::map<CuContext, int> errors_;  // of broken contexts
  std::map<CuDevice, PerDevice> devices_;
  std::map<CuDevice, Sink> sinks_;
  std::map<CuDevice, int> retained_;  // primary contexts, how often
  std::map<CuPool, CuDevice> pools_;
  std::atomic<std::uint64_t> ordinal_{0};  // blocks so far
  std::uint64_t retired_ = 0,              // freed ones that could be unmapped
      context_ids_ = 0;
  std::mutex checks_;               // for a whole check_after()
  std::uint64_t last_checked_ = 0;  // launch after which all canaries were compared
  bool abandoned_ = false, in_program_ = false;
};

}  // namespace redzone::interpose
