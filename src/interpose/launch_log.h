// The last launches of the process, stored in its record: what was launched, with which arguments,
// and whether it is known to have completed. Thread-safe.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "interpose/driver.h"
#include "interpose/event_marks.h"
#include "interpose/kernel_filter.h"
#include "interpose/launch_record.h"
#include "interpose/recorder.h"

namespace redzone::interpose {

class LaunchLog {
 public:
  // Both references must outlive this object. `kernels`: the pattern for is_named().
  LaunchLog(const Driver& driver, Recorder& recorder, const char* kernels = "");
  LaunchLog(const LaunchLog&) = delete;
  LaunchLog& operator=(const LaunchLog&) = delete;

  struct Call {
    LaunchKind kind = LaunchKind::kernel;
    void* kernel = nullptr;  // CUfunction or CUkernel
    unsigned grid[3] = {}, block[3] = {}, shared_bytes = 0;
    CuStream stream = nullptr;  // kLegacyStream or kThreadStream rather than null
    void** parameters = nullptr;
    void** extra = nullptr;
  };
  // Call before the driver's call, so that a call that does not return is in the record. Returns
  // the number of the launch. `blocks`: number of the guard's blocks so far.
  std::uint64_t begin(const Call& call, bool captured, std::uint64_t blocks);
  // Call after the driver's call has returned.
  void end(std::uint64_t launch, int result);
  // True if the settings select the kernel of this launch. A graph is always selected, because it
  // may contain any kernel.
  bool is_named(const Call& call);
  // Number of the last launch; 0 if there was none.
  std::uint64_t last() const;
  // Number of launch calls that have returned so far.
  std::uint64_t returned() const;

  // Call after a wait for the stream, or for the whole context if `stream` is empty, has returned.
  // `until`: the number of launch calls that had returned when the wait began; a launch whose call
  // had not returned by then may have come after the wait.
  void completed(CuContext context, std::optional<CuStream> stream, std::uint64_t until);
  // Call when a stream is destroyed, because its handle may be reused for another stream.
  void stream_gone(CuStream stream);

  // Call around the driver's call that records the event in a stream of the current context.
  // `marks`: false if the call fails or the stream captures; then the event has no mark.
  void record_begins(CuEvent event);
  void record_ends(CuEvent event, CuStream stream, std::uint64_t until, bool marks);
  // mark_of(): the event's current mark, to be read before a wait for the event. passed(): call
  // after that wait; does for the event's stream what completed() does.
  std::optional<EventMarks::Mark> mark_of(CuEvent event) const;
  void passed(const EventMarks::Mark& mark);
  void event_gone(CuEvent event);

  // Kernels that the program has looked up by name. Drivers before CUDA 12.3 do not report names.
  enum class Handle : std::uint8_t { unknown, function, kernel };
  void looked_up(void* kernel, Handle handle, const char* name);
  // Records a handle of which only the kind is known. The driver is queried for its name and
  // parameters when the kernel is launched, and again if the driver has loaded it since.
  void met(void* kernel, Handle handle);
  // Records the function of a kernel, which has the same name.
  void function_of(void* function, void* kernel);
  // Call when a module was unloaded: handles may be reused for other kernels.
  void forget_kernels();

  // Keeps copies of the launches of the context that are not known to have completed, and the
  // number of such launches that later launches have displaced from the record. Returns false if
  // this was done before, for this context or another. `resolve(word, blocks, pointer)` returns
  // true if the word points to one of the first `blocks` blocks, and stores that block in
  // `pointer`.
  template <class Resolve>
  bool keep_unfinished(CuContext context, Resolve resolve);
  // Copies a launch that is still in the record. Returns false if it is not.
  template <class Resolve>
  bool copy(std::uint64_t launch, Resolve resolve, LaunchRecord& out) const;

  // Call around fork().
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  struct Kernel {
    char name[kKernelNameBytes] = {};
    std::uint32_t parameters = 0, argument_bytes = 0;
    std::uint16_t offsets[kParametersKept] = {}, sizes[kParametersKept] = {};
    Handle handle = Handle::unknown;
    bool asked = false;         // the driver was queried for its parameters
    std::optional<bool> named;  // selected by the filter; empty until it is needed
  };

  // Launches that later launches have displaced from the record.
  using LostKey =
      std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>;  // context, stream, thread
  struct Lost {
    std::uint64_t launches = 0;
    std::uint64_t returned = 0;  // number of the last of their calls to return
  };

  Kernel& kernel_of(void* handle);
  void lose(const LaunchRecord& launch);
  // What a wait is for: a whole context, or one of its streams. `thread`: the thread of a
  // per-thread default stream.
  struct Wait {
    std::uint64_t context = 0;
    std::optional<CuStream> stream;
    std::uint32_t thread = 0;

    bool is_for(std::uint64_t its_context, std::uint64_t its_stream,
                std::uint32_t its_thread) const;
  };
  void complete(const Wait& wait, std::uint64_t until);
  void ask(void* handle, Kernel& kernel) const;
  LaunchRecord* slot_of(std::uint64_t launch) const;
  template <class Resolve>
  static void resolve_pointers(LaunchRecord& launch, Resolve resolve);

  const Driver& driver_;
  Recorder& recorder_;
  mutable std::mutex mutex_;
  std::unordered_map<void*, Kernel> kernels_;
  EventMarks events_;
  KernelFilter filter_;
  std::map<LostKey, Lost> lost_;
  // keyed by launch: displaced launches whose call has not returned
  std::map<std::uint64_t, LostKey> lost_calls_;
  std::uint64_t last_ = 0, returned_ = 0;
};

template <class Resolve>
void LaunchLog::resolve_pointers(LaunchRecord& launch, Resolve resolve) {
  launch.pointers_found = 0;
  for (std::uint32_t at = 0; at + sizeof(CuAddress) <= launch.argument_bytes;
       at += sizeof(CuAddress)) {
    CuAddress word = 0;
    __builtin_memcpy(&word, launch.arguments + at, sizeof word);
    PointerRecord& pointer = launch.pointers[launch.pointers_found];
    if (!resolve(word, launch.blocks, pointer)) continue;
    pointer.offset_bytes = at;
    if (++launch.pointers_found == kPointersKept) return;
  }
}

template <class Resolve>
bool LaunchLog::keep_unfinished(CuContext context, Resolve resolve) {
  const std::lock_guard lock(mutex_);
  LaunchRecord* const kept = recorder_.begin_unfinished();
  if (kept == nullptr) return false;
  std::size_t n = 0;
  for (std::uint64_t launch = last_; launch != 0 && last_ - launch < kLaunchesKept; --launch) {
    const LaunchRecord* const slot = slot_of(launch);
    if (slot == nullptr || slot->context != reinterpret_cast<std::uint64_t>(context)) continue;
    if (slot->state != LaunchState::launched && slot->state != LaunchState::calling) continue;
    kept[n] = *slot;
    resolve_pointers(kept[n++], resolve);
  }
  std::uint64_t lost = 0;
  const auto of = reinterpret_cast<std::uint64_t>(context);
  for (const auto& [key, one] : lost_)
    if (std::get<0>(key) == of) lost += one.launches;
  for (const auto& [launch, key] : lost_calls_)
    if (std::get<0>(key) == of) ++lost;
  recorder_.publish_unfinished(n, lost);
  return true;
}

template <class Resolve>
bool LaunchLog::copy(std::uint64_t launch, Resolve resolve, LaunchRecord& out) const {
  const std::lock_guard lock(mutex_);
  const LaunchRecord* const slot = slot_of(launch);
  if (slot == nullptr) return false;
  out = *slot;
  resolve_pointers(out, resolve);
  return true;
}

}  // namespace redzone::interpose
