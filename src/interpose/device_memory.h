// The blocks that the program allocates from the driver, each between guard pages. Pure bookkeeping
// over a table of driver functions, so that tests can pass a fake driver.
//
// A block lives in a region: a separate slot, mapped between unmapped pages, or a cell of a slot
// that small blocks share. Around the block the region holds canaries. A freed block is retired: in
// the order of the stream that frees it, its bytes are poisoned; then its canaries are copied to
// the host and an event is recorded. Once the event has passed, the canaries are compared, and the
// region is unmapped or reused. The free decides between unmapping and reuse. A free that is not in
// the order of a stream waits for the event if the region is to be unmapped, so that each later
// access faults.
//
// While a stream captures, the guard makes no mapping, event, query or memset: frees wait for the
// end of the capture, and blocks come from the driver unless a freed region fits unchanged.
//
// No wait for the device blocks another thread: a function that waits releases the mutex, and
// afterwards checks its state again.
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

// When a call takes effect: in the order of a stream, or (if empty) for all streams at once.
using Order = std::optional<CuStream>;

class DeviceMemory {
 public:
  // All arguments must outlive this object.
  DeviceMemory(const Driver& driver, const Settings& settings, Recorder& recorder,
               LaunchLog& launches);
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // Allocates a guarded block of the current context, of at least one byte. Empty if it cannot be
  // guarded: the reason is counted, and the caller calls the driver.
  std::optional<CuAddress> allocate(std::size_t bytes, Order order, const Frames& from);

  enum class Freed : std::uint8_t {
    foreign,  // not an address of the guard: the caller calls the driver
    freed,
    wrong,  // reported: inside a block, or freed already
  };
  struct FreeResult {
    Freed freed = Freed::foreign;
    int result =
        kCuSuccess;  // the result of the call unless foreign; the error of a broken context
  };
  FreeResult free(CuAddress address, Order order, const char* call, const Frames& from);

  // Records that work of `stream` uses the block as well: a free in the order of a stream then
  // waits for both streams. Does nothing if the address is not a live block.
  void record_stream(CuAddress address, CuStream stream);

  struct View {
    CuAddress address = 0;
    std::size_t bytes = 0;
    CuContext context = nullptr;
    std::uint64_t ordinal = 0;
  };
  // The live block that contains the address.
  std::optional<View> find(CuAddress address) const;

  // The memory that a call of the program accesses, from its first to its last byte.
  struct Range {
    CuAddress at = 0;
    std::size_t bytes = 0;
    Access access = Access::unknown;
    const char* call = "";
  };
  // Reports a range that exceeds its block, or is in a freed block; once for each block.
  void check_range(const Range& range);

  // Call before a stream begins a capture. False if the stream captures already; then a refusal by
  // the driver does not end that capture.
  bool capture_begins(CuStream stream);
  // Call when the driver refuses a capture, or when a capture has ended.
  void capture_over(CuStream stream);
  // Call before and after the destruction of a stream. If capture_dies() returns false, the stream
  // does not capture, and capture_died() must not be called.
  bool capture_dies(CuStream stream);
  void capture_died();
  bool capturing() const;
  // True if this stream captures.
  bool captures(CuStream stream) const;

  // Call if a call of the driver itself has found no memory on the device (by default that of the
  // current context): releases memory kept for later blocks, or waits, for a limited time, for
  // memory that the program has freed. False if there is none.
  bool make_room(std::optional<CuDevice> device = std::nullopt);
  // Calls `allocate` again while it finds no memory and make_room() releases some, for at most
  // kMostWait in all.
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
  // Bytes on the current context's device that the program has freed but the guard still holds.
  std::size_t kept_bytes() const;

  // The program has created a pool, or destroys one.
  void pool_created(CuPool pool, const CuPoolProps& properties);
  void pool_destroyed(CuPool pool);
  // True if memory of the pool may be guarded: the pool is on the device of the stream and was not
  // created for export.
  bool guards_pool(CuPool pool, CuStream stream) const;

  // Lets the current context access guarded memory on the device of `other` from now on, as the
  // driver does for its own memory.
  void peer_enabled(CuContext other);

  // Call when the context is destroyed: its blocks, streams and events are gone.
  void context_gone(CuContext context);

  // The program retains a primary context, or is about to release it. primary_releases() returns
  // true for the last release.
  void primary_retained(CuDevice device);
  bool primary_releases(CuDevice device);

  // Records that a call of the program returned `result`. Reports the first sticky error of each
  // context. A null context means the current one.
  void check_result(int result, const char* call, CuContext context = nullptr);
  // True if the current context has had a sticky error: nothing is guarded in it.
  bool is_broken() const;

  // Call after a wait of the program: finishes freed blocks whose events have passed.
  void retire_passed(const char* call);

  // Number of blocks so far.
  std::uint64_t blocks() const { return ordinal_.load(std::memory_order_relaxed); }

  // Call after a launch has completed: compares the canaries of all live blocks. A canary that is
  // wrong now was right after the previous check, so it is reported with this launch.
  void check_after(std::uint64_t launch);

  // Call at the end of a process or of its context: compares the canaries of all blocks, live and
  // freed. Waits for the device, but only for a limited time. Reports an error that no call of the
  // program has returned.
  void settle();

  // Call around fork(). If the driver was used, it does not work in the child, where the guard
  // abandons all state.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  void abandon() { abandoned_ = abandoned_ || !contexts_.empty(); }

  // The blocks so far belong to the guard's self-test; the next block is the program's first.
  void begin_program();

 private:
  using Lock = std::unique_lock<std::mutex>;
  // Default streams need the context as well, and the per-thread default stream the thread.
  using StreamKey = std::tuple<CuStream, CuContext, int>;

  struct Slot {
    CuAddress reservation = 0, base = 0;
    std::size_t reserved_bytes = 0, bytes = 0;
    CuMemoryHandle handle = 0;
    CuDevice device = 0;
    std::size_t sink_bytes = 0;  // mapped on each side; 0: guard pages instead
  };
  // device_sinks.cpp
  struct Sink {
    CuContext context = nullptr;
    CuAddress at = 0;  // address at which the guard accesses it
    std::size_t bytes = 0;
    CuMemoryHandle handle = 0;
    unsigned char* host = nullptr;  // pinned; the destination of a copy of the sink
    bool is_mapped = false;
  };
  struct Region {
    Slot slot;  // its own slot, or the shared one
    CuAddress base = 0;
    std::size_t bytes = 0;
    bool shared = false;
    CuContext context = nullptr;
    // The block whose poison and canaries are in place; 0 if none.
    CuAddress painted_at = 0;
    std::size_t painted_bytes = 0;
  };
  struct Block {
    Region region;
    CuAddress address = 0;
    std::size_t bytes = 0;
    std::uint64_t ordinal = 0;
    bool is_freed = false, is_reported = false;  // reported: its canaries are known to be wrong
    Frames allocated, freed;
    bool is_range_reported = false;
    std::vector<CuStream> users = {};  // set by record_stream()
  };
  struct Pending {
    Block block;
    CuEvent done = nullptr;
    unsigned char* canaries =
        nullptr;          // pinned; the canaries before the block, then those after it
    bool copied = false;  // false: a call failed, so the canaries are unusable
    bool unmap = false;   // unmap the region instead of reusing it
  };
  // Canary buffers that the device may still write.
  struct Batch {
    CuContext context = nullptr;
    CuEvent done = nullptr;
    std::vector<unsigned char*> canaries;
  };
  struct PerContext {
    std::uint64_t id = 0;  // distinguishes a later context with the same handle
    // All are non-blocking. `own` waits for all work submitted to the context, `painting` for
    // nothing. Each lane waits for streams in whose order blocks are freed: a block freed behind a
    // long kernel does not delay a block that another stream frees.
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
    std::set<CuDevice> peers;  // devices that may access its memory
  };
  struct Zone {
    CuAddress at = 0;
    std::size_t bytes = 0;
  };
  // Key of spare regions: context, size, and whether they are shared.
  using SpareKey = std::tuple<CuContext, std::size_t, bool>;

  // device_memory.cpp
  CuAddress place(const Region& region, std::size_t bytes) const;
  int paint(Region& region, CuAddress at, std::size_t bytes, CuStream stream);
  int paint_for_all(Lock& lock, Region& region, CuAddress at, std::size_t bytes);
  std::optional<CuAddress> allocate_ready(std::size_t bytes, CuContext context, const Frames& from);
  // The number of the program's next block. Empty, and counted, if the settings exclude the block.
  std::optional<std::uint64_t> next_ordinal();
  CuAddress give_out(const Region& region, CuAddress at, std::size_t bytes, std::uint64_t ordinal,
                     const Frames& from);
  std::optional<CuAddress> refuse(Counter reason);
  // Does nothing unless the result is sticky and the first such result of the context.
  void report_error(CuContext context, int result, const char* call);
  bool is_broken(CuContext context) const { return errors_.count(context) != 0; }
  FreeResult report_bad_free(const Block& block, CuAddress address, bool freed, const char* call,
                             const Frames& from);
  // device_evidence.cpp
  void name_launch(FindingRecord& finding, std::uint64_t launch) const;
  // True if the word points to one of the first `blocks` blocks, which is stored in `out`.
  bool points_to(CuAddress word, std::uint64_t blocks, PointerRecord& out) const;
  void save_blocks() const;
  // device_ranges.cpp
  void report_range(Block& block, const Range& range, Side side, std::uint64_t distance_bytes);
  // device_contexts.cpp
  // The context of a stream; `current` for a default stream.
  CuContext context_of(CuStream stream, CuContext current) const;
  bool on_one_device(CuContext first, CuContext second) const;
  static StreamKey key_of(CuStream stream, CuContext context);
  // Key of a stream in the current context, which is stored in `context`.
  StreamKey capture_key(CuStream stream, CuContext& context) const;
  bool holds_back() const { return !captures_.empty() || dying_captures_ != 0; }
  void retire_deferred(Lock& lock);
  PerContext* per_context(CuContext context);
  // Runs `wait` without the mutex. Returns kCuInvalidContext if the context was destroyed
  // meanwhile.
  template <class Wait>
  int without_lock(Lock& lock, CuContext context, Wait wait);
  // The wait is bounded, because the device may itself wait for the program.
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
  // `keep_addresses`: keeps the addresses reserved; otherwise releases them and forgets the freed
  // blocks there.
  void unmap(const Slot& slot, bool keep_addresses);
  void forget(const Region& region);  // for a context that is gone
  bool trim(CuDevice device, std::size_t bytes = SIZE_MAX);
  bool wait_for_free(Lock& lock, CuContext context, CuDevice device,
                     std::uint64_t most_us = UINT64_MAX);
  // device_retirement.cpp
  Zone zone_before(const Block& block) const;
  Zone zone_after(const Block& block) const;
  // Takes a spare one or makes one. Null if the driver has no more; `failed` is the driver's
  // result.
  Lent<CuEvent> take_event(PerContext& context, int& failed);
  Lent<unsigned char*> take_canaries(PerContext& context, int& failed);
  int order_after_all(Lock& lock, CuContext context);
  CuStream lane_of(CuStream stream, CuContext of, PerContext& state);
  int order_after(CuStream stream, CuContext of, CuStream waiting);
  // Like order_after(), for the stream in whose order a block is freed and all streams that use the
  // block.
  int order_after_users(const Block& block, CuStream stream, CuContext current, CuStream waiting);
  int copy_canaries(const Block& block, CuStream stream, unsigned char* to);
  int poison_freed(const Block& block, CuStream stream);
  // `current`: the context in which the program called the free.
  int retire(Lock& lock, const Block& block, Order order, CuContext current);
  // Finishes freed blocks whose event has passed. Queries at most `most` events, of all streams in
  // turn. Reports an error.
  void poll(const char* call, std::size_t most = SIZE_MAX);
  std::size_t pending_blocks() const;
  // Waits until the event of the freed block at this address has passed and finishes the block, if
  // it is to be unmapped; waits at most kFreeWaitMs. Releases the mutex meanwhile: returns if
  // another thread finishes the block, breaks the context or begins a capture.
  void finish_now(Lock& lock, CuAddress address, const char* call);
  bool choose_to_unmap(const Region& region);
  void finish(Pending& pending);
  // `launch`: the launch after which the canaries are compared; 0: no particular launch.
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
  // `call`: reported as the call that returned an error. `launch`: see compare(). False if not all
  // blocks were compared.
  bool compare_live(Lock& lock, const char* call, std::uint64_t launch);
  // Compares blocks of the context from address `next` on, and advances `next` past them. Returns
  // the first failure, or 0.
  int compare_batch(Lock& lock, CuContext context, CuAddress& next, std::uint64_t launch);

  const Driver& driver_;
  const Settings& settings_;
  Recorder& recorder_;
  LaunchLog& launches_;
  mutable std::mutex mutex_;
  std::map<CuAddress, Block> live_;
  // The most recently freed blocks whose address no new block has.
  std::map<CuAddress, Block> freed_;
  // Includes the blocks' numbers, because a later block may have the address by now.
  std::deque<std::pair<CuAddress, std::uint64_t>> freed_order_;
  // Keyed by the stream in which the events were recorded, where they pass in this order. No deque
  // is empty.
  std::map<StreamKey, std::deque<Pending>> pending_;
  StreamKey next_polled_{};
  std::deque<Block> deferred_;  // freed while a stream captured
  std::vector<Batch> batches_;  // abandoned; their buffers become free after the event
  std::map<SpareKey, std::vector<Region>> spare_;
  std::map<StreamKey, CuContext> captures_;
  int dying_captures_ = 0;  // captures of streams that are being destroyed
  // Number of calls that wait for the device without the mutex. A capture begins when it is 0.
  int waits_ = 0;
  std::condition_variable no_waits_;
  std::map<CuContext, PerContext> contexts_;
  std::map<CuContext, int> errors_;  // broken contexts
  std::map<CuDevice, PerDevice> devices_;
  std::map<CuDevice, Sink> sinks_;
  std::map<CuDevice, int> retained_;  // retain count of each primary context
  std::map<CuPool, CuDevice> pools_;
  std::atomic<std::uint64_t> ordinal_{0};  // blocks so far
  std::uint64_t retired_ = 0,              // freed blocks that could be unmapped
      context_ids_ = 0;
  std::mutex checks_;               // held during check_after()
  std::uint64_t last_checked_ = 0;  // the last launch after which all canaries were compared
  bool abandoned_ = false, in_program_ = false;
};

}  // namespace redzone::interpose
