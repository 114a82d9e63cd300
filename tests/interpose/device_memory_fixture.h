// Guarded device memory over a driver that runs no kernels but those that a test plants.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "core/temporary_folder.h"
#include "guard/process_record.h"
#include "interpose/device_memory.h"
#include "interpose/fake_driver.h"

// NOLINTBEGIN: the driver's names
extern "C" {
int cuCtxSetCurrent(redzone::interpose::CuContext);
int cuStreamCreate(redzone::interpose::CuStream*, unsigned);
int cuStreamSynchronize(redzone::interpose::CuStream);
int cuStreamBeginCapture_v2(redzone::interpose::CuStream, int);
int cuStreamEndCapture(redzone::interpose::CuStream, redzone::interpose::CuGraph*);
int cuCtxSynchronize();
}
// NOLINTEND

namespace redzone::interpose {

inline constexpr std::size_t kSlot = std::size_t{2} << 20;
inline const CuContext kContext = reinterpret_cast<CuContext>(0x1000);
inline const CuContext kSecondContext = reinterpret_cast<CuContext>(0x2000);
inline const Frames kNowhere;

class DeviceMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    fakeReset();
    cuCtxSetCurrent(kContext);
    ASSERT_TRUE(recorder_.open(folder_->path().c_str()));
    ASSERT_EQ(cuStreamCreate(&stream_, kCuStreamNonBlocking), 0);
    driver_ = load_driver([](const char* name) { return dlsym(RTLD_DEFAULT, name); });
    ASSERT_TRUE(driver_.can_guard());
  }

  DeviceMemory& memory() {
    if (!memory_) memory_.emplace(driver_, settings_, recorder_, launches_);
    return *memory_;
  }
  CuAddress allocate(std::size_t bytes, Order order = std::nullopt) {
    return memory().allocate(bytes, order, kNowhere).value_or(0);
  }
  DeviceMemory::Freed free(CuAddress address, Order order = std::nullopt) {
    return memory().free(address, order, "cuMemFree", kNowhere).freed;
  }
  std::uint64_t counted(Counter counter) const { return recorder_.counted(counter); }
  std::vector<guard::Finding> findings() const {
    std::size_t unreadable = 0;
    auto all = guard::read_process_records(folder_->path(), unreadable);
    EXPECT_EQ(unreadable, 0u);
    return all.size() == 1 ? all[0].findings : std::vector<guard::Finding>();
  }
  // Lets the device do all of its work, and the guard see it. Compares live blocks, too.
  void settle() {
    fakeSetEager(true);
    memory().settle();
    fakeSetEager(false);
  }
  bool holds(CuAddress at, std::size_t bytes, int value) {
    cuCtxSynchronize();
    const auto* const first = reinterpret_cast<const unsigned char*>(at);
    return fakeIsMapped(at, bytes) &&
           std::all_of(first, first + bytes, [&](unsigned char byte) { return byte == value; });
  }

  Result<TemporaryFolder> folder_ = TemporaryFolder::create("device-memory-test");
  Recorder recorder_;
  Settings settings_;
  Driver driver_;
  LaunchLog launches_{driver_, recorder_};
  CuStream stream_ = nullptr;
  std::optional<DeviceMemory> memory_;
};

}  // namespace redzone::interpose
