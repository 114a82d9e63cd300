// NVRTC needs its library, but no GPU.
#include "device/cuda/compiler.h"

#include <gtest/gtest.h>

namespace redzone::device::cuda {
namespace {

class Compiler : public testing::Test {
 protected:
  void SetUp() override {
    auto loaded = load_nvrtc_api();
    if (!loaded) GTEST_SKIP() << loaded.error();
    nvrtc_ = *loaded;
    request_.name = "scale";
    request_.source = R"(
#include <redzone/kernel.h>
template <class T, int kFactor>
__global__ void scale(T* to, const T* from) {
  T* shared = redzone::dynamic_shared<T>();
  shared[threadIdx.x] = from[threadIdx.x];
  __syncthreads();
  to[threadIdx.x] = T(float(shared[threadIdx.x]) * kFactor);
}
)";
    request_.expression = "scale<redzone::bf16, 3>";
  }
  NvrtcApi nvrtc_;
  VariantRequest request_;
};

TEST_F(Compiler, CompilesAnInstanceThatIncludesTheKernelHeader) {
  for (int capability : {80, 90}) {
    auto cubin = compile_variant(nvrtc_, request_, arch_name(capability));
    ASSERT_TRUE(cubin) << cubin.error().detail;
    EXPECT_EQ(cubin->image.substr(1, 3), "ELF");
    EXPECT_EQ(cubin->lowered_name.rfind("_Z", 0), 0u) << cubin->lowered_name;
    EXPECT_NE(cubin->image.find(cubin->lowered_name), std::string::npos);
  }
}

TEST_F(Compiler, OptionsReachTheCompiler) {
  request_.source = "__global__ void f(int* to) { *to = VALUE; }";
  request_.expression = "f";
  auto without = compile_variant(nvrtc_, request_, "sm_80");
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().kind, Failure::Kind::harness);
  EXPECT_NE(without.error().detail.find("VALUE"), std::string::npos) << without.error().detail;
  request_.options = {"-DVALUE=4", "-std=c++17"};
  auto with = compile_variant(nvrtc_, request_, "sm_80");
  EXPECT_TRUE(with) << with.error().detail;
}

TEST_F(Compiler, LongLogsAreCut) {
  std::string source;
  for (int i = 0; i < 200; ++i) source += "missing_" + std::to_string(i) + " x;\n";
  request_.source = source;
  request_.expression = "f";
  auto failed = compile_variant(nvrtc_, request_, "sm_80");
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().detail.find("missing_0"), std::string::npos);
  EXPECT_LT(std::count(failed.error().detail.begin(), failed.error().detail.end(), '\n'), 20);
}

TEST_F(Compiler, UnknownExpressionIsAFailure) {
  request_.expression = "no_such_kernel<1>";
  auto failed = compile_variant(nvrtc_, request_, "sm_80");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, Failure::Kind::harness);
}

}  // namespace
}  // namespace redzone::device::cuda
