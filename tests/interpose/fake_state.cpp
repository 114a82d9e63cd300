#include "interpose/fake_state.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "interpose/fake_driver.h"

namespace redzone::fake {
namespace {

thread_local CuContext the_current = nullptr;
thread_local int the_capture_mode = 0;

}  // namespace

State& state() {
  static auto* const all = new State;
  return *all;
}

CuContext current() {
  return the_current;
}

int exchange_capture_mode(int mode) {
  return std::exchange(the_capture_mode, mode);
}

void set_current(CuContext context) {
  the_current = context;
}

int sticky_of(CuContext context) {
  const auto at = state().sticky.find(context);
  return at == state().sticky.end() ? 0 : at->second;
}

int begin(const char* name, bool invalidates_captures) {
  State& s = state();
  ++s.calls[name];
  if (auto it = s.failures.find(name); it != s.failures.end() && it->second.times > 0) {
    --it->second.times;
    return it->second.code;
  }
  if (invalidates_captures && the_capture_mode != kCuCaptureRelaxed)
    for (const auto& stream : s.all_streams)
      if (stream->capturing) {
        s.invalidated = true;
        return kCaptureUnsupported;
      }
  return sticky_of(the_current);
}

Stream& stream_of(CuStream handle) {
  if (handle == nullptr) handle = kLegacyStream;
  StreamKey key{handle, nullptr, {}};
  if (handle == kLegacyStream || handle == kThreadStream) std::get<1>(key) = the_current;
  if (handle == kThreadStream) std::get<2>(key) = std::this_thread::get_id();
  auto& at = state().streams[key];
  if (at == nullptr) {
    at = state().all_streams.emplace_back(std::make_unique<Stream>()).get();
    at->context = the_current;
  }
  return *at;
}

void run(Stream& stream, std::uint64_t until) {
  while (stream.done < until && !stream.work.empty()) {
    // Work that waits for another stream runs that one's, which may fail.
    const int result = sticky_of(stream.context) == 0 ? stream.work.front()() : 0;
    if (result == kCuNotReady) return;
    if (result != 0 && sticky_of(stream.context) == 0) state().sticky[stream.context] = result;
    stream.work.pop_front();
    ++stream.done;
  }
}

void run_all() {
  for (std::size_t i = 0; i < state().all_streams.size(); ++i) {
    Stream& stream = *state().all_streams[i];
    run(stream, stream.given);
  }
}

int give(CuStream handle, std::function<int()> work) {
  Stream& stream = stream_of(handle);
  if (stream.context != the_current) return kInvalidHandle;
  if (stream.capturing) return kCuSuccess;  // a node of a graph that nobody launches
  stream.work.push_back(std::move(work));
  ++stream.given;
  return kCuSuccess;
}

void wait_until(std::unique_lock<std::recursive_mutex>& lock, const char* name,
                const std::function<bool()>& done) {
  while (!done() || state().held.count(name) != 0) {
    lock.unlock();
    usleep(100);
    lock.lock();
  }
}

void end_context(CuContext context) {
  for (const auto& stream : state().all_streams)
    if (stream->context == context) {
      run(*stream, stream->given);
      stream->work.clear();
      stream->done = stream->given;
      stream->capturing = false;
    }
  state().sticky.erase(context);
}

bool is_mapped(CuAddress address, std::size_t bytes) {
  // The driver gives out parts of mapped granules, so a plain block ends at none of its own.
  for (const auto* map : {&state().mapped, &state().plain}) {
    auto it = map->upper_bound(address);
    if (it == map->begin()) continue;
    --it;
    const std::size_t whole = (it->second + kGranularity - 1) / kGranularity * kGranularity;
    if (address + bytes <= it->first + whole) return true;
  }
  return false;
}

unsigned char* host(CuAddress address) {
  return reinterpret_cast<unsigned char*>(address);
}

}  // namespace redzone::fake

// NOLINTBEGIN: the names are those of fake_driver.h
using namespace redzone::fake;

FAKE_EXPORT int fakeLaunchWrite(unsigned long long address, std::size_t bytes, int value,
                                CuStream stream) {
  FAKE_CALL();
  return give(stream, [=] {
    if (!is_mapped(address, bytes)) return int{kCuIllegalAddress};
    std::fill_n(host(address), bytes, static_cast<unsigned char>(value));
    return 0;
  });
}
FAKE_EXPORT int fakeLaunchRead(unsigned long long address, std::size_t bytes, CuStream stream) {
  FAKE_CALL();
  return give(stream, [=] { return is_mapped(address, bytes) ? 0 : int{kCuIllegalAddress}; });
}
FAKE_EXPORT int fakeLaunchGate(CuStream stream) {
  FAKE_CALL();
  state().gate_open = false;
  return give(stream, [] { return state().gate_open ? 0 : int{kCuNotReady}; });
}
FAKE_EXPORT void fakeOpenGate() {
  const std::lock_guard lock(state().mutex);
  state().gate_open = true;
}
FAKE_EXPORT void fakeHold(const char* function) {
  const std::lock_guard lock(state().mutex);
  state().held.insert(function);
}
FAKE_EXPORT void fakeLetGo() {
  const std::lock_guard lock(state().mutex);
  state().held.clear();
}
FAKE_EXPORT void fakeFail(const char* function, int code, int times) {
  const std::lock_guard lock(state().mutex);
  state().failures[function] = {code, times};
}
FAKE_EXPORT int fakeCalls(const char* function) {
  const std::lock_guard lock(state().mutex);
  return state().calls[function];
}
FAKE_EXPORT void fakeSetEager(bool is) {
  const std::lock_guard lock(state().mutex);
  state().eager = is;
}
FAKE_EXPORT void fakeLimitMemory(std::size_t bytes) {
  state().limit = bytes;
}
FAKE_EXPORT void fakeSetVirtualMemory(bool has) {
  state().virtual_memory = has;
}
FAKE_EXPORT void fakeSetPrivateEntries(bool has) {
  state().private_entries = has;
}
FAKE_EXPORT void fakeSetKernelNames(bool has) {
  state().kernel_names = has;
}
FAKE_EXPORT bool fakeIsMapped(unsigned long long address, std::size_t bytes) {
  const std::lock_guard lock(state().mutex);
  return is_mapped(address, bytes);
}
FAKE_EXPORT bool fakeCanAccess(unsigned long long address, int device) {
  const std::lock_guard lock(state().mutex);
  const auto& all = state().accessors;
  const auto after = all.upper_bound(address);
  return is_mapped(address, 1) && after != all.begin() &&
         std::prev(after)->second.count(device) != 0;
}
FAKE_EXPORT int fakePlainBlocks() {
  return static_cast<int>(state().plain.size());
}
FAKE_EXPORT void fakeReset() {
  State& s = state();
  for (const auto& stream : s.all_streams) {
    stream->work.clear();
    stream->done = stream->given;
    stream->capturing = false;
  }
  for (const auto& [handle, file] : s.files) close(file);
  s.files.clear(), s.mappings.clear();
  s.reserved.clear(), s.plain.clear(), s.mapped.clear(), s.accessors.clear(), s.created.clear(),
      s.calls.clear(), s.failures.clear(), s.held.clear(), s.streams.clear(), s.sticky.clear(),
      s.free_handles.clear();
  s.used = 0, s.limit = std::size_t{1} << 30, s.primary = 0;
  s.invalidated = s.eager = s.private_entries = s.gate_open = false;
  s.virtual_memory = s.kernel_names = true;
}
// NOLINTEND
