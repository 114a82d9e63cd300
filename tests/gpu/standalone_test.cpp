// Programs written by `redzone export --standalone` and compiled by nvcc alone show their failure,
// and no longer do once the bug is fixed.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace redzone {
namespace {

struct Ran {
  int code = -1;
  std::string out;
};

Ran run(const std::string& name) {
  Ran ran;
  FILE* pipe = popen((PROGRAMS "/program_" + name + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return ran;
  std::array<char, 256> part;
  while (fgets(part.data(), part.size(), pipe) != nullptr) ran.out += part.data();
  const int status = pclose(pipe);
  if (WIFEXITED(status)) ran.code = WEXITSTATUS(status);
  return ran;
}

// 3: the program reports that it cannot run; 127: there is no libcuda.so.1.
bool cannot_run(const Ran& ran) {
  return ran.code == 3 || ran.code == 127;
}

TEST(Standalone, AnAccessBeyondABufferIsADeviceError) {
  const Ran ran = run("last_tile");
  if (cannot_run(ran)) GTEST_SKIP() << ran.out;
  EXPECT_EQ(ran.code, 1) << ran.out;
  EXPECT_NE(ran.out.find("as found: FAILED: "), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos) << ran.out;
}

TEST(Standalone, AKernelThatIsCompiledAtRunTimeFaultsBeyondItsScratch) {
  const Ran ran = run("lazy_scratch_per_cta");
  if (cannot_run(ran)) GTEST_SKIP() << ran.out;
  EXPECT_EQ(ran.code, 1) << ran.out;
  EXPECT_NE(ran.out.find("CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos) << ran.out;
}

TEST(Standalone, ALifetimeBugShowsBecauseLaunchesAreHeld) {
  const Ran ran = run("argument_block");
  if (cannot_run(ran)) GTEST_SKIP() << ran.out;
  EXPECT_EQ(ran.code, 1) << ran.out;
  EXPECT_NE(ran.out.find("FAILED: 'y' of call 1 is not the same in"), std::string::npos) << ran.out;
}

TEST(Standalone, TheFixedTargetShowsNothing) {
  const Ran ran = run("twin_argument_block");
  if (cannot_run(ran)) GTEST_SKIP() << ran.out;
  EXPECT_EQ(ran.code, 0) << ran.out;
  EXPECT_NE(ran.out.find("no failure"), std::string::npos) << ran.out;
}

}  // namespace
}  // namespace redzone
