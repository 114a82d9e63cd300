// A device that measures how long the calling thread spends in each kind of call.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "device/device.h"

namespace redzone::bench {

// The kinds of calls that are measured; other calls are forwarded unmeasured.
enum class DevicePhase : std::uint8_t {
  begin_trial,
  fill,
  check,
  launch,
  graph,  // captures, and launches of graphs
  wait,
  mark,
  copy,  // includes memset
  hold,  // includes open
  synchronize,
  read,
  variant,
  encode
};
inline constexpr std::array<std::string_view, 13> kDevicePhases = {
    "begin_trial", "fill", "check",       "launch", "graph",   "wait",  "mark",
    "copy",        "hold", "synchronize", "read",   "variant", "encode"};

struct PhaseTime {
  double us = 0;
  std::uint64_t times = 0;
};

class TimedDevice final : public device::Device {
 public:
  // `device` must outlive this object.
  explicit TimedDevice(device::Device& device) : device_(device) {}

  const std::array<PhaseTime, kDevicePhases.size()>& times() const { return times_; }
  void clear() { times_ = {}; }

  const device::Info& info() const override { return device_.info(); }
  device::Memory& memory(Allocator allocator) override { return device_.memory(allocator); }
  device::OrderedMemory& ordered_memory(Allocator allocator) override {
    return device_.ordered_memory(allocator);
  }
  device::Memory& pinned_memory() override { return device_.pinned_memory(); }
  void set_black_box(device::BlackBox* box) override { device_.set_black_box(box); }
  device::Status<void> begin_trial(const device::TrialSettings& settings) override {
    return timed(DevicePhase::begin_trial, [&] { return device_.begin_trial(settings); });
  }
  void watch(std::vector<device::NamedRange> buffers) override {
    device_.watch(std::move(buffers));
  }
  void watch_more(std::span<const device::NamedRange> buffers) override {
    device_.watch_more(buffers);
  }
  void set_call(std::int32_t call) override { device_.set_call(call); }
  void* stream_handle(int stream) override { return device_.stream_handle(stream); }
  device::Status<void> fill(int stream, std::span<const device::BufferJob> jobs) override {
    return timed(DevicePhase::fill, [&] { return device_.fill(stream, jobs); });
  }
  void attach_thread() override { device_.attach_thread(); }
  device::Status<void> fill_foreign(void* stream,
                                    std::span<const device::BufferJob> jobs) override {
    return timed(DevicePhase::fill, [&] { return device_.fill_foreign(stream, jobs); });
  }
  device::Status<void> check(int stream, std::span<const device::BufferJob> jobs,
                             device::BufferCheck* results) override {
    return timed(DevicePhase::check, [&] { return device_.check(stream, jobs, results); });
  }
  device::Status<void> launch(int stream, const KernelRef& kernel, const LaunchShape& shape,
                              const LaunchArgs& args) override {
    return timed(DevicePhase::launch, [&] { return device_.launch(stream, kernel, shape, args); });
  }
  device::Status<void> wait(int stream, int on) override {
    return timed(DevicePhase::wait, [&] { return device_.wait(stream, on); });
  }
  device::Status<void> mark(int stream, std::uint32_t number) override {
    return timed(DevicePhase::mark, [&] { return device_.mark(stream, number); });
  }
  std::uint32_t reached(int stream) const override { return device_.reached(stream); }
  device::Status<void> copy(int stream, void* to, const void* from, std::size_t bytes) override {
    return timed(DevicePhase::copy, [&] { return device_.copy(stream, to, from, bytes); });
  }
  device::Status<void> memset(int stream, void* to, std::uint8_t value,
                              std::size_t bytes) override {
    return timed(DevicePhase::copy, [&] { return device_.memset(stream, to, value, bytes); });
  }
  device::Status<void> await(int stream, int signal) override {
    return device_.await(stream, signal);
  }
  device::Status<void> give(int stream, int signal) override {
    return device_.give(stream, signal);
  }
  void give_now(int signal) override { device_.give_now(signal); }
  bool kept_signals() const override { return device_.kept_signals(); }
  device::Status<void> begin_capture(int stream) override {
    return timed(DevicePhase::graph, [&] { return device_.begin_capture(stream); });
  }
  device::Status<int> end_capture(int stream) override {
    return timed(DevicePhase::graph, [&] { return device_.end_capture(stream); });
  }
  device::Status<void> launch_graph(int stream, int graph) override {
    return timed(DevicePhase::graph, [&] { return device_.launch_graph(stream, graph); });
  }
  device::Status<void> hold() override {
    return timed(DevicePhase::hold, [&] { return device_.hold(); });
  }
  device::Status<void> open() override {
    return timed(DevicePhase::hold, [&] { return device_.open(); });
  }
  std::size_t hold_capacity() const override { return device_.hold_capacity(); }
  device::Status<void> synchronize() override {
    return timed(DevicePhase::synchronize, [&] { return device_.synchronize(); });
  }
  device::Status<void> read(void* to, const void* from, std::size_t bytes) override {
    return timed(DevicePhase::read, [&] { return device_.read(to, from, bytes); });
  }
  device::Status<KernelRef> variant(const VariantRequest& request) override {
    return timed(DevicePhase::variant, [&] { return device_.variant(request); });
  }
  device::Status<int> encode(const tma::Descriptor& descriptor, TensorMap& map) override {
    return timed(DevicePhase::encode, [&] { return device_.encode(descriptor, map); });
  }

 private:
  template <class Call>
  std::invoke_result_t<Call> timed(DevicePhase phase, Call call) {
    const auto begun = std::chrono::steady_clock::now();
    auto result = call();
    const auto spent = std::chrono::steady_clock::now() - begun;
    PhaseTime& time = times_[static_cast<std::size_t>(phase)];
    time.us += std::chrono::duration<double, std::micro>(spent).count();
    ++time.times;
    return result;
  }

  device::Device& device_;
  std::array<PhaseTime, kDevicePhases.size()> times_ = {};
};

}  // namespace redzone::bench
