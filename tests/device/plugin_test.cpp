// Kernels of a shared object loaded at run time.
#include <dlfcn.h>
#include <gtest/gtest.h>

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
