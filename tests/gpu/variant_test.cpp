// Kernels compiled at run time, cached in memory and on disk.
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "core/temporary_folder.h"
#include "device/variant_hook.h"
#include "gpu/gpu_fixture.h"

namespace redzone::gpu_test {
namespace {

namespace fs = std::filesystem;
using Kind = device::Failure::Kind;

constexpr std::string_view kSource = R"(
#include <redzone/kernel.h>
template <int kFactor>
__global__ void scale(unsigned* to, unsigned value) {
  redzone::bf16 one(1.0f);
  *to = value * kFactor * unsigned(float(one)) + OFFSET;
}
)";

VariantRequest scale(int factor, int offset) {
  VariantRequest request;
  request.name = "scale";
  request.source = kSource;
  request.expression = "scale<" + std::to_string(factor) + ">";
  request.options = {"-DOFFSET=" + std::to_string(offset)};
  return request;
}

// Sets an environment variable for its lifetime.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    if (old_)
      setenv(name_, old_->c_str(), 1);
    else
      unsetenv(name_);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

class GpuVariant : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    const device::CudaProbe probe = device::probe_cuda();
    if (probe.nvrtc.empty()) GTEST_SKIP() << probe.problem;
  }

  unsigned run(device::Device& on, const VariantRequest& request) {
    auto kernel = on.variant(request);
    EXPECT_TRUE(ok(kernel));
    if (!kernel) return 0;
    auto* to = reinterpret_cast<unsigned*>(acquire(64).base);
    EXPECT_TRUE(ok(launch(on, 0, *kernel, kOneThread, to, 10u)));
    EXPECT_TRUE(ok(on.synchronize()));
    return read_value<unsigned>(to);
  }

  // A second device of this process with its own caches, which uses the folder of this test.
  std::unique_ptr<device::Device> open_fresh() {
    const Variable cache("REDZONE_CACHE_DIR", folder_.string());
    auto opened = device::open_cuda_device();
    EXPECT_TRUE(ok(opened));
    return opened ? std::move(*opened) : nullptr;
  }

  const fs::path& folder() const { return folder_; }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    if (fs::exists(folder_ / "nvrtc"))
      for (const auto& entry : fs::directory_iterator(folder_ / "nvrtc"))
        found.push_back(entry.path());
    return found;
  }

 private:
  const TemporaryFolder made_ = TemporaryFolder::create("variants").value();
  const fs::path folder_ = made_.path() / "cache";
};

TEST_F(GpuVariant, InstancesAndOptionsAreKeptApart) {
  EXPECT_EQ(run(device(), scale(2, 1)), 21u);
  EXPECT_EQ(run(device(), scale(3, 1)), 31u);
  EXPECT_EQ(run(device(), scale(2, 5)), 25u);
  EXPECT_EQ(run(device(), scale(2, 1)), 21u);
}

TEST_F(GpuVariant, MemoryCacheReturnsTheSameFunction) {
  auto first = device().variant(scale(4, 0));
  auto second = device().variant(scale(4, 0));
  ASSERT_TRUE(ok(first));
  ASSERT_TRUE(ok(second));
  EXPECT_EQ(first->function, second->function);
  EXPECT_STREQ(second->name, "scale");
}

TEST_F(GpuVariant, CompilesBehindAClosedGate) {
  begin(Launch::gated);
  ASSERT_TRUE(ok(device().hold()));
  EXPECT_EQ(run(device(), scale(9, 9)), 99u);
}

TEST_F(GpuVariant, DiskCacheServesALaterDevice) {
  auto first = open_fresh();
  ASSERT_TRUE(first);
  EXPECT_EQ(run(*first, scale(6, 1)), 61u);
  ASSERT_EQ(files().size(), 1u);
  first.reset();
  // A rewritten file would be another file under the same name.
  const fs::path link = folder() / "link";
  fs::create_hard_link(files()[0], link);

  auto second = open_fresh();
  ASSERT_TRUE(second);
  EXPECT_EQ(run(*second, scale(6, 1)), 61u);
  ASSERT_EQ(files().size(), 1u);
  EXPECT_TRUE(fs::equivalent(files()[0], link));
}

TEST_F(GpuVariant, WhatWasCompiledAheadIsLoaded) {
  {
    const Variable cache("REDZONE_CACHE_DIR", folder().string());
    device::compiling_hook(device().info().compute_capability)(scale(8, 1), nullptr);
  }
  ASSERT_EQ(files().size(), 1u);
  const fs::path link = folder() / "link";
  fs::create_hard_link(files()[0], link);
  auto fresh = open_fresh();
  ASSERT_TRUE(fresh);
  EXPECT_EQ(run(*fresh, scale(8, 1)), 81u);
  ASSERT_EQ(files().size(), 1u);
  EXPECT_TRUE(fs::equivalent(files()[0], link));
}

TEST_F(GpuVariant, DamagedDiskCacheIsRebuilt) {
  auto first = open_fresh();
  ASSERT_TRUE(first);
  EXPECT_EQ(run(*first, scale(7, 1)), 71u);
  first.reset();
  ASSERT_EQ(files().size(), 1u);
  const auto size = fs::file_size(files()[0]);
  fs::resize_file(files()[0], size / 2);

  auto second = open_fresh();
  ASSERT_TRUE(second);
  EXPECT_EQ(run(*second, scale(7, 1)), 71u);
  EXPECT_EQ(fs::file_size(files()[0]), size);
}

TEST_F(GpuVariant, CompileErrorsCarryTheLog) {
  VariantRequest request = scale(2, 1);
  request.options = {};  // OFFSET is undefined
  auto kernel = device().variant(request);
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().kind, Kind::harness);
  EXPECT_NE(kernel.error().detail.find("OFFSET"), std::string::npos) << kernel.error().detail;
}

TEST_F(GpuVariant, WithoutNvrtcItIsUnsupported) {
  auto fresh = open_fresh();
  ASSERT_TRUE(fresh);
  const Variable nvrtc("REDZONE_NVRTC", "/does/not/exist/libnvrtc.so");
  auto kernel = fresh->variant(scale(2, 1));
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().kind, Kind::unsupported);
  EXPECT_EQ(kernel.error().detail.rfind("NVRTC not found", 0), 0u) << kernel.error().detail;
}

}  // namespace
}  // namespace redzone::gpu_test
