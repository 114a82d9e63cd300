// What the stand-in for libcuda.so.1 keeps, shared by its sources.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "interpose/driver_abi.h"

namespace redzone::fake {

using namespace interpose;

inline constexpr std::size_t kGranularity = std::size_t{2} << 20;
inline constexpr int kInvalidHandle = 400;
inline constexpr int kIllegalState = 401;
inline constexpr int kCaptureUnsupported = 900;
inline constexpr int kCaptureInvalidated = 901;

struct Stream {
  CuContext context = nullptr;
  // Each returns an error, or kCuNotReady if it cannot be done yet.
  std::deque<std::function<int()>> work;
  std::uint64_t given = 0, done = 0;
  bool capturing = false;
};

struct Event {
  CuContext context = nullptr;
  std::map<Stream*, std::uint64_t> after;  // passed once each has done so much
};

struct Failure {
  int code = 0, times = 0;
};

// Default streams are of a context, and the thread's of a thread as well.
using StreamKey = std::tuple<CuStream, CuContext, std::thread::id>;

struct State {
  std::recursive_mutex mutex;
  std::map<CuAddress, std::size_t> reserved, plain, mapped;  // mapped: accessible
  std::map<CuAddress, std::set<CuDevice>> accessors;         // of what is mapped
  std::map<CuMemoryHandle, std::size_t> created;
  std::map<CuMemoryHandle, int> files;           // the memory of what was created
  std::map<CuAddress, CuMemoryHandle> mappings;  // of cuMemMap()
  std::map<std::string, int> calls;
  std::map<std::string, Failure> failures;
  std::set<std::string> held;
  std::map<StreamKey, Stream*> streams;
  std::vector<CuStream> free_handles;
  // Kept until the process ends: a guard may hold handles of theirs across a reset.
  std::vector<std::unique_ptr<Stream>> all_streams;
  std::vector<std::unique_ptr<Event>> all_events;
  std::vector<std::unique_ptr<unsigned char[]>> pinned;
  std::size_t used = 0, limit = std::size_t{1} << 30;
  CuMemoryHandle next_handle = 1;
  std::uint64_t next_pool = 0x3000;
  std::map<CuContext, int> sticky;
  int primary = 0;  // how often the primary context is retained
  bool kernel_names = true;
  bool invalidated = false, virtual_memory = true, eager = false, private_entries = false,
       gate_open = false;
};

State& state();

// Not the addresses of anything: contexts are only compared. The second one is of device 1.
inline const CuContext kContext = reinterpret_cast<CuContext>(0x1000);
inline const CuContext kSecondContext = reinterpret_cast<CuContext>(0x2000);
inline const CuPool kDefaultPool = reinterpret_cast<CuPool>(0x2f00);  // of device 0

// Of this thread.
CuContext current();
void set_current(CuContext context);
// What this thread may call while a stream captures; returns what it was.
int exchange_capture_mode(int mode);

// Counts the call; nonzero: planted, or an error of the context.
int begin(const char* name, bool invalidates_captures = false);

Stream& stream_of(CuStream handle);
// Does what a stream has been given, so far as it can be done now.
void run(Stream& stream, std::uint64_t until);
void run_all();
int sticky_of(CuContext context);
// Enqueues work. Its stream must be of the current context.
int give(CuStream handle, std::function<int()> work);
// Waits, without the lock, until `done`, and until fakeHold() holds the call no longer.
void wait_until(std::unique_lock<std::recursive_mutex>& lock, const char* name,
                const std::function<bool()>& done);
// Nothing of the context is left to do, and its error is forgotten.
void end_context(CuContext context);

bool is_mapped(CuAddress address, std::size_t bytes);
unsigned char* host(CuAddress address);

}  // namespace redzone::fake

// NOLINTBEGIN: each call of the stand-in begins with the first
#define FAKE_CALL(...)                                 \
  std::unique_lock lock(redzone::fake::state().mutex); \
  if (const int failed = redzone::fake::begin(__func__ __VA_OPT__(, ) __VA_ARGS__)) return failed

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))
// NOLINTEND
