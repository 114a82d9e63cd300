#include "gpu/gpu_fixture.h"

namespace redzone::gpu_test {
namespace {

// Opened by the first test that needs it. A function-local static, so main() can close it.
std::unique_ptr<device::Device>& shared_device() {
  static std::unique_ptr<device::Device> device;
  return device;
}

const char* name_of(device::Failure::Kind kind) {
  switch (kind) {
    case device::Failure::Kind::fault:
      return "fault";
    case device::Failure::Kind::launch_refused:
      return "launch_refused";
    case device::Failure::Kind::out_of_memory:
      return "out_of_memory";
    case device::Failure::Kind::unsupported:
      return "unsupported";
    case device::Failure::Kind::harness:
      return "harness";
  }
  return "?";
}

}  // namespace

std::string describe(const device::Failure& failure) {
  return std::string(name_of(failure.kind)) + " " + failure.code + ": " + failure.detail;
}

void GpuTest::SetUp() {
  const device::CudaProbe probe = device::probe_cuda();
  if (!probe.device) GTEST_SKIP() << probe.problem;
  if (!shared_device()) {
    auto opened = device::open_cuda_device();
    ASSERT_TRUE(ok(opened));
    shared_device() = std::move(*opened);
  }
  device_ = shared_device().get();
  begin();
}

void GpuTest::TearDown() {
  if (device_ == nullptr) return;
  EXPECT_TRUE(ok(device_->synchronize()));
  for (const Held& held : regions_) device_->memory(held.allocator).release(held.region);
}

device::Region GpuTest::acquire(std::size_t bytes, Allocator allocator) {
  auto region = device_->memory(allocator).acquire(bytes);
  EXPECT_TRUE(ok(region));
  if (!region) return {};
  regions_.push_back({*region, allocator});
  return *region;
}

void GpuTest::begin(Launch mode, int streams) {
  ASSERT_TRUE(ok(device_->begin_trial({mode, 0, streams})));
}

std::vector<std::byte> GpuTest::read(const void* from, std::size_t bytes) {
  std::vector<std::byte> to(bytes);
  EXPECT_TRUE(ok(device_->read(to.data(), from, bytes)));
  return to;
}

void close_device() {
  shared_device().reset();
}

}  // namespace redzone::gpu_test
