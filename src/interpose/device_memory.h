// The blocks that the program allocates from the driver, each between guard pages. Pure bookkeeping
// over a table of driver functions, so it is tested over a driver that is not one.
//
// A block lives in a region: a slot of its own, mapped between unmapped pages, or a cell of a slot
// that small blocks share. Around the block the region holds canaries. A freed block is retired: in
// the order of the stream that frees it, its canaries are copied to the host and its bytes are
// poisoned, then an event is recorded. Once the event has passed, the canaries are compared, and
// the region is unmapped or used again. Which of both is decided at the free: one in the order of
// no stream waits for the event if its region is to be unmapped, so that each later access faults.
//
// While a stream captures, no mapping, event, query or memset is made: frees wait for the end of
// the capture, and blocks come from the driver unless a freed region fits as it is.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "interpose/driver.h"
#include "interpose/lent.h"
#include "interpose/recorder.h"
#include "interpose/settings.h"

namespace redzone::interpose {

// When a call takes effect: in the order of a stream, or for all streams at once (none).
using Order = std::optional<CuStream>;

class DeviceMemory {
 public:
  // All of them outlive this object.
  DeviceMemory(const Driver& driver, const Settings& settings, Recorder& recorder);
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
  Freed free(CuAddress address, Order order, const char* call, const Frames& from);

  struct View {
    CuAddress address = 0;
    std::size_t bytes = 0;
    CuContext context = nullptr;
    std::uint64_t ordinal = 0;
  };
  // The live block that contains the address.
  std::optional<View> find(CuAddress address) const;

  // A stream has begun, or ended, a capture.
  void capture_began(CuStream stream);
  void capture_ended(CuStream stream);
  bool capturing() const;

  // The current context may access the memory of the other one's device from now on, as with
  // memory of the driver's own.
  void peer_enabled(CuContext other);

  // The context is destroyed: its blocks, streams and events are gone.
  void context_gone(CuContext context);

  // A call of the program returned this code. The first sticky one is reported.
  void check_result(int result, const char* call);

  // At the end of a process or of its context: compares the canaries of all blocks, live and freed.
  // Waits for the device, but only for a limited time. An error that the program has not asked for
  // is reported.
  void settle();

  // Around fork(). The child has none of this: the driver does not work there.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  void abandon() { broken_ = true; }

  // The blocks so far were the guard's own; the next one is the program's first.
  void begin_program();

 private:
  struct Slot {
    CuAddress reservation = 0, base = 0;
    std::size_t reserved_bytes = 0, bytes = 0;
    CuMemoryHandle handle = 0;
    CuDevice device = 0;
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
    bool is_freed = false;
    Frames allocated, freed;
  };
  struct Pending {
    Block block;
    CuEvent done = nullptr;
    unsigned char* canaries = nullptr;  // pinned; those before the block, then those after
    bool copied = false;                // false: a call failed, so the canaries say nothing
    bool unmap = false;                 // and not used again
  };
  struct Deferred {
    Block block;
    Order order;
  };
  struct PerContext {
    CuStream own = nullptr;  // non-blocking
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
  std::optional<CuAddress> refuse(Counter reason);
  void report_error(int result, const char* call);
  Freed report_bad_free(const Block& block, CuAddress address, bool freed, const char* call,
                        const Frames& from);
  // device_slots.cpp
  PerContext* per_context(CuContext context);
  PerDevice& per_device(CuDevice device);
  std::size_t region_bytes(std::size_t bytes, const PerDevice& device) const;
  std::optional<Region> spare_region(const SpareKey& key, std::size_t bytes, bool painted);
  std::optional<Region> take_region(std::size_t bytes, CuContext context, CuDevice device);
  std::optional<Region> take_cell(std::size_t bytes, CuContext context, CuDevice device);
  int map_slot(std::size_t bytes, CuDevice device, Slot& out);
  int give_access(const Slot& slot);
  int try_map_slot(std::size_t bytes, CuDevice device, Slot& out);
  void unmap(const Slot& slot, bool keep_addresses);
  bool trim();
  // device_retirement.cpp
  Zone zone_before(const Block& block) const;
  Zone zone_after(const Block& block) const;
  Lent<CuEvent> take_event(PerContext& context);
  Lent<unsigned char*> take_canaries(PerContext& context);
  int order_after_all(CuContext context, PerContext& state);
  int copy_canaries(const Block& block, CuStream stream, unsigned char* to);
  int retire(const Block& block, Order order);
  // Finishes freed blocks whose event has passed. The error of a broken context, else 0.
  int poll();
  // Bounded: the device may itself wait for the program.
  int wait_for(CuEvent event, int most_ms);
  // Finishes the freed block at this address once its event has passed, for at most kFreeWaitMs.
  // Other threads have the mutex meanwhile: if one of them finishes the block, breaks the context
  // or begins a capture, this returns. An error of the context is reported as that of `call`.
  void finish_now(std::unique_lock<std::mutex>& lock, CuAddress address, const char* call);
  bool choose_to_unmap(const Region& region);
  void finish(Pending& pending);
  bool compare(const Block& block, const unsigned char* canaries);
  // The first failure; 0 for none.
  int compare_live();
  void bury(const Block& block);

  const Driver& driver_;
  const Settings& settings_;
  Recorder& recorder_;
  mutable std::mutex mutex_;
  std::map<CuAddress, Block> live_;
  // The last freed blocks, while no new block has their address.
  std::map<CuAddress, Block> freed_;
  std::deque<CuAddress> freed_order_;
  std::deque<Pending> pending_;
  std::vector<Deferred> deferred_;
  std::map<SpareKey, std::vector<Region>> spare_;
  std::set<CuStream> captures_;
  std::map<CuContext, PerContext> contexts_;
  std::map<CuDevice, PerDevice> devices_;
  std::uint64_t ordinal_ = 0,
                retired_ = 0;  // of blocks so far, of freed ones that could be unmapped
  bool broken_ = false;
};

}  // namespace redzone::interpose
