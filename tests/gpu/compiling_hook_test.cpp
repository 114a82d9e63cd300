// Compiling ahead needs NVRTC but no GPU. variant_test.cpp tests that a device loads the compiled
// variants, e2e/compile_ahead_test.cpp that workers do.
#include "device/variant_hook.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/temporary_folder.h"
#include "device/cuda/nvrtc_api.h"

namespace redzone::device {
namespace {

namespace fs = std::filesystem;

class CompilingHook : public testing::Test {
 protected:
  void SetUp() override {
    if (auto loaded = cuda::load_nvrtc_api(); !loaded) GTEST_SKIP() << loaded.error();
    setenv("REDZONE_CACHE_DIR", folder_.c_str(), 1);
    request_.name = "f";
    request_.source = "__global__ void f(int* to) { *to = VALUE; }";
    request_.expression = "f";
    request_.options = {"-DVALUE=1"};
  }
  void TearDown() override { unsetenv("REDZONE_CACHE_DIR"); }
  std::size_t entries() const {
    if (!fs::exists(folder_ / "nvrtc")) return 0;
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_ / "nvrtc"), fs::directory_iterator()));
  }

  const TemporaryFolder made_ = TemporaryFolder::create("hook").value();
  const fs::path folder_ = made_.path() / "cache";
  VariantRequest request_;
};

TEST_F(CompilingHook, WhatATargetAsksForIsOnDisk) {
  const auto device = open_asking_device(compiling_hook(90));
  ASSERT_TRUE(device->variant(request_));
  EXPECT_EQ(entries(), 1u);
  ASSERT_TRUE(device->variant(request_));
  EXPECT_EQ(entries(), 1u);
  request_.options = {"-DVALUE=2"};
  ASSERT_TRUE(device->variant(request_));
  EXPECT_EQ(entries(), 2u);
}

TEST_F(CompilingHook, WhatIsThereIsNotCompiledAgain) {
  compiling_hook(90)(request_, nullptr);
  ASSERT_EQ(entries(), 1u);
  const fs::path file = fs::directory_iterator(folder_ / "nvrtc")->path();
  // A rewritten file would be another file under the same name.
  fs::create_hard_link(file, folder_ / "link");
  compiling_hook(90)(request_, nullptr);
  EXPECT_TRUE(fs::equivalent(file, folder_ / "link"));
  compiling_hook(80)(request_, nullptr);
  EXPECT_EQ(entries(), 2u) << "of another GPU";
}

TEST_F(CompilingHook, WhatCannotBeCompiledIsLeftToTheDevice) {
  const auto hook = compiling_hook(90);
  request_.options = {};  // VALUE is undefined
  hook(request_, nullptr);
  request_.source = {};
  hook(request_, nullptr);
  request_.image = "compiled before";
  hook(request_, nullptr);
  EXPECT_EQ(entries(), 0u);
}

// What cannot be kept would be compiled again by the device.
TEST_F(CompilingHook, WhatWouldNotBeKeptIsNotCompiled) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "nvrtc") << "where the folder of the cache would be";
  const auto hook = compiling_hook(90);
  hook(request_, nullptr);
  EXPECT_NE(no_compiling_ahead(), "");
  fs::remove(folder_ / "nvrtc");
  for (int i = 0; i < 100; ++i) hook(request_, nullptr);
  EXPECT_EQ(entries(), 0u) << "it is tried again, but rarely";
  hook(request_, nullptr);
  EXPECT_EQ(entries(), 1u);
}

TEST_F(CompilingHook, WithoutACacheNothingHappens) {
  for (const char* variable : {"REDZONE_CACHE_DIR", "XDG_CACHE_HOME", "HOME"}) unsetenv(variable);
  BlackBox box;
  compiling_hook(90)(request_, &box);
  EXPECT_EQ(box.progress, 0u);
  EXPECT_NE(no_compiling_ahead(), "");
}

TEST_F(CompilingHook, TheFolderOfTheCacheIsMade) {
  EXPECT_EQ(no_compiling_ahead(), "");
  EXPECT_TRUE(fs::is_directory(folder_ / "nvrtc"));
}

TEST_F(CompilingHook, WithoutNvrtcNothingHappens) {
  setenv("REDZONE_NVRTC", "/does/not/exist/libnvrtc.so", 1);
  compiling_hook(90)(request_, nullptr);
  unsetenv("REDZONE_NVRTC");
  EXPECT_EQ(entries(), 0u);
}

TEST(AskingDevice, TellsOfTheBoxThatItWasGiven) {
  BlackBox box;
  BlackBox* told = nullptr;
  const auto device = open_asking_device([&](const VariantRequest&, BlackBox* b) { told = b; });
  device->set_black_box(&box);
  EXPECT_TRUE(device->variant({"f", "", "f", {}, {}}));
  EXPECT_EQ(told, &box);
}

TEST(AskingDevice, NeedsNoHook) {
  const VariantRequest request{"f", "", "f", {}, {}};
  EXPECT_TRUE(open_asking_device({})->variant(request));
}

}  // namespace
}  // namespace redzone::device
