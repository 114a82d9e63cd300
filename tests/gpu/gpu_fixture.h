// One CUDA device for all tests of a process, and steps that most of them need.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"

namespace redzone::gpu_test {

// "fault CUDA_ERROR_ILLEGAL_ADDRESS: ..." for messages.
std::string describe(const device::Failure& failure);

template <class T>
testing::AssertionResult ok(const device::Status<T>& status) {
  if (status) return testing::AssertionSuccess();
  return testing::AssertionFailure() << describe(status.error());
}

// Enqueues a launch with these arguments.
template <class... A>
device::Status<void> launch(device::Device& device, int stream, const KernelRef& kernel,
                            const LaunchShape& shape, A... args) {
  void* pointers[sizeof...(A) + 1] = {static_cast<void*>(&args)...};
  const std::size_t sizes[sizeof...(A) + 1] = {sizeof(A)...};
  return device.launch(stream, kernel, shape, {pointers, sizes, sizeof...(A)});
}

inline constexpr LaunchShape kOneThread = {};

// Skips, with the reason, if there is no GPU.
class GpuTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  device::Device& device() { return *device_; }
  // Acquires a region from an allocator; released at the end of the test.
  device::Region acquire(std::size_t bytes, Allocator allocator = Allocator::guard);
  void begin(Launch mode = Launch::async, int streams = 1);
  std::vector<std::byte> read(const void* from, std::size_t bytes);
  template <class T>
  T read_value(const void* from) {
    T value{};
    EXPECT_TRUE(ok(device_->read(&value, from, sizeof value)));
    return value;
  }

 private:
  struct Held {
    device::Region region;
    Allocator allocator;
  };
  device::Device* device_ = nullptr;
  std::vector<Held> regions_;
};

// Closes the device before the driver's own exit handlers run.
void close_device();

// Runs the named scenario of child.cpp in a fresh process and returns its output.
std::string run_child(const std::string& scenario);
// Entry point of such a process; returns its exit code.
int child_main(const std::string& scenario);

}  // namespace redzone::gpu_test
