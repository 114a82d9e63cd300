// A device that queues its commands, runs them later and records them.
//
// Nothing runs before synchronize() (or open(), when launches are blocked), so tests can observe
// dependences on order. It can be configured to refuse, to fault, and to run out of memory.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "device/caching_memory.h"
#include "device/device.h"

namespace redzone::testing {

class FakeMemory final : public device::Memory {
 public:
  explicit FakeMemory(const std::size_t& in_flight) : in_flight_(in_flight) {}
  ~FakeMemory() override;

  device::Status<device::Region> acquire(std::size_t bytes) override;
  void release(device::Region region) override;
  void trim() override;
  std::uint64_t mapping_calls() const override { return mapping_calls_; }

  // The region that contains `p` or ends there.
  device::Region region_of(const void* p) const;

  std::size_t most_bytes = std::size_t{1} << 40;
  std::size_t live_bytes = 0;
  std::size_t released_in_flight = 0;  // must stay 0: the work would see another trial's data

 private:
  const std::size_t& in_flight_;
  std::map<const std::byte*, device::Region> regions_;
  std::multimap<std::size_t, device::Region> cache_;
  std::uint64_t mapping_calls_ = 0;
};

class FakeDevice final : public device::Device {
 public:
  FakeDevice();

  const device::Info& info() const override { return info_; }
  device::Memory& memory(Allocator allocator) override;
  // Both allocators are the block cache.
  device::OrderedMemory& ordered_memory(Allocator) override { return caching_; }
  device::Memory& pinned_memory() override { return host_; }
  FakeMemory& host() { return host_; }
  FakeMemory& guard() { return guard_; }
  void set_black_box(device::BlackBox*) override {}
  device::Status<void> begin_trial(const device::TrialSettings& settings) override;
  void watch(std::vector<device::NamedRange> buffers) override { watched = std::move(buffers); }
  void watch_more(std::span<const device::NamedRange> buffers) override {
    watched_later += buffers.size();
    watched.insert(watched.end(), buffers.begin(), buffers.end());
  }
  void set_call(std::int32_t) override {}
  void attach_thread() override { attached.insert(std::this_thread::get_id()); }
  void* stream_handle(int stream) override { return &handles_[stream]; }
  device::Status<void> fill(int stream, std::span<const device::BufferJob> jobs) override;
  // Logged as "fill foreign".
  device::Status<void> fill_foreign(void*, std::span<const device::BufferJob> jobs) override;
  device::Status<void> check(int stream, std::span<const device::BufferJob> jobs,
                             device::BufferCheck* results) override;
  device::Status<void> launch(int stream, const KernelRef& kernel, const LaunchShape& shape,
                              const LaunchArgs& args) override;
  device::Status<void> wait(int stream, int on) override;
  device::Status<void> mark(int stream, std::uint32_t number) override;
  std::uint32_t reached(int stream) const override { return reached_[stream]; }
  device::Status<void> begin_capture(int stream) override;
  device::Status<int> end_capture(int stream) override;
  device::Status<void> launch_graph(int stream, int graph) override;
  device::Status<void> copy(int stream, void* to, const void* from, std::size_t bytes) override;
  device::Status<void> memset(int stream, void* to, std::uint8_t value, std::size_t bytes) override;
  device::Status<void> hold() override;
  device::Status<void> open() override;
  std::size_t hold_capacity() const override { return capacity; }
  device::Status<void> synchronize() override;
  device::Status<void> read(void* to, const void* from, std::size_t bytes) override;
  device::Status<KernelRef> variant(const VariantRequest& request) override;
  // Encodes by the rules; fails with `encode_failure` if it is set.
  device::Status<int> encode(const tma::Descriptor& descriptor, TensorMap& map) override;

  // "fill", "launch NAME", "mark N", "wait 1 on 0", "hold", "open", "check", "sync", "capture",
  // "end capture", "graph 0", in order. What is enqueued on a stream other than 0 ends in
  // " @STREAM".
  std::vector<std::string> log;
  std::set<std::thread::id> attached;  // threads
  std::vector<device::NamedRange> watched;
  std::size_t watched_later = 0;      // those added by watch_more()
  std::set<std::string> refused;      // kernels whose launch is refused
  std::set<std::string> faulting;     // kernels that fault when they run
  std::set<std::string> unsupported;  // variants that this device does not have
  bool no_captures = false;          // end_capture() fails, as of something that cannot be captured
  std::set<const void*> host_pages;  // ends of copies that are refused
  std::optional<device::Failure> encode_failure;
  std::optional<device::Failure> check_failure;
  std::size_t capacity = 1000;
  device::TrialSettings settings;

  // From now on the device does not report which call faulted.
  void keep_quiet_about_calls() { info_.kind = DeviceKind::cuda; }

  // The entries of `log` that start with one of these words.
  std::vector<std::string> logged(std::initializer_list<std::string_view> words) const;

 private:
  device::Status<void> enqueue(std::string what, int stream, std::function<void()> work);
  device::Status<void> drain();

  struct Operation {
    std::string kernel;
    std::function<void()> work;
  };
  device::Info info_;
  std::vector<Operation> queue_;
  std::size_t in_flight_ = 0;
  bool held_ = false;
  bool lost_ = false;
  char handles_[device::kDeviceStreams] = {};
  std::uint32_t reached_[device::kDeviceStreams] = {};
  std::optional<int> capturing_;  // the stream being captured
  std::vector<std::vector<Operation>> graphs_;
  FakeMemory guard_{in_flight_};
  FakeMemory plain_{in_flight_};
  FakeMemory host_{in_flight_};
  FakeMemory segments_{in_flight_};
  device::CachingMemory caching_{segments_};
};

}  // namespace redzone::testing
