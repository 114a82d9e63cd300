// Kernels of a shared object loaded at run time.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "device/host/kernel_statics.h"
#include "device/host/thread_statics.h"
#include "tests/device/on_device.h"

namespace redzone::device {
namespace {

using testing::Buffer;
using testing::host_device;
using testing::zero;

class Plugin : public ::testing::Test {
 protected:
  void SetUp() override {
    library_ = dlopen(DEVICE_TEST_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << dlerror();
    auto* get = reinterpret_cast<void (*)(KernelRef*)>(dlsym(library_, "relay_kernel"));
    ASSERT_NE(get, nullptr);
    get(&kernel_);
  }
  void TearDown() override { dlclose(library_); }

  // Of one block after the other.
  void relay(Device& device, unsigned blocks, unsigned* token, unsigned* intact) {
    void* pointers[] = {&token, &intact};
    const std::size_t sizes[] = {sizeof(void*), sizeof(void*)};
    ASSERT_TRUE(device.launch(0, kernel_, {{blocks}, {64}}, {pointers, sizes, 2}));
    ASSERT_TRUE(device.synchronize());
  }

  void* library_ = nullptr;
  KernelRef kernel_;
};

TEST_F(Plugin, BlocksThatTakeTurnsKeepTheirSharedMemory) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    auto device = host_device(seed);
    constexpr unsigned kBlocks = 50;
    Buffer<unsigned> token(*device, 1), intact(*device, 1);
    zero(*device, token);
    zero(*device, intact);
    relay(*device, kBlocks, token.data(), intact.data());
    EXPECT_EQ(*token.data(), kBlocks) << seed;
    EXPECT_EQ(*intact.data(), kBlocks * 64) << seed;
  }
}

// A thread may get the id of one that has ended, and its storage elsewhere.
TEST_F(Plugin, SharedMemoryOfAThreadIsNotThatOfAnEarlierOne) {
  KernelStatics statics;
  std::vector<std::vector<std::vector<std::byte>>> taken(10);
  std::vector<const std::byte*> storages;
  for (auto& blocks : taken)
    std::thread([&] {
      // So that the allocator has another place for the storage than in the thread before.
      for (std::size_t bytes = 64; bytes < 1024; bytes += 16) blocks.emplace_back(bytes);
      const auto storage = make_thread_statics_of(kernel_.function);
      const auto& variables = statics.of(kernel_.function);
      ASSERT_EQ(variables.size(), 1U);
      EXPECT_EQ(variables[0].size(), 64 * sizeof(unsigned));
      EXPECT_GE(variables[0].data(), storage.data());
      EXPECT_LE(variables[0].data() + variables[0].size(), storage.data() + storage.size());
      storages.push_back(storage.data());
    }).join();
  std::sort(storages.begin(), storages.end());
  EXPECT_GT(std::unique(storages.begin(), storages.end()) - storages.begin(), 1);
}

TEST_F(Plugin, OfAnEarlierVersionIsNotCheckedAndThatIsSaid) {
  for (const auto check :
       {SanitizerTool::races, SanitizerTool::init, SanitizerTool::sync, SanitizerTool::undefined}) {
    auto device = host_device();
    ASSERT_TRUE(device->check_kernels(check));
    Buffer<unsigned> counts(*device, 2);
    zero(*device, counts);
    relay(*device, 1, &counts.data()[0], &counts.data()[1]);
    EXPECT_EQ(device->take_check_report().problem,
              "the code of kernel 'relay' was not built for checks");
  }
}

}  // namespace
}  // namespace redzone::device
