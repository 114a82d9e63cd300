// A package as a standalone program: it runs like the package, and with the scratch of one CTA, as
// in pytorch/pytorch#175385, it faults.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>

#include "core/temporary_folder.h"
#include "core/validate.h"
#include "device/device.h"
#include "package/packages.h"
#include "standalone/inline_sources.h"
#include "standalone/program.h"
#include "standalone/recording.h"
#include "target/registry.h"

namespace redzone {
namespace {

struct Ran {
  int code = -1;
  std::string out;
};

Ran run(const std::string& command) {
  Ran ran;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return ran;
  std::array<char, 256> part;
  while (fgets(part.data(), part.size(), pipe) != nullptr) ran.out += part.data();
  const int status = pclose(pipe);
  if (WIFEXITED(status)) ran.code = WEXITSTATUS(status);
  return ran;
}

class StandalonePackage : public testing::Test {
 protected:
  void SetUp() override {
    const auto probe = device::probe_cuda();
    if (!probe.device) GTEST_SKIP() << probe.problem;
    if (probe.compute_capability != 90)
      GTEST_SKIP() << "compiled for compute capability 9.0, not " << probe.compute_capability;
    const auto package = std::filesystem::path(PACKAGES) / "scale_descriptor";
    if (!std::filesystem::exists(package / "target.toml"))
      GTEST_SKIP() << package << " is not there: ./scripts/triton_export.py shipped makes it";
    if (!std::filesystem::exists(NVCC)) GTEST_SKIP() << NVCC << " is not there";
    const auto added = package::add_packages(registry_, {&package, 1});
    ASSERT_TRUE(added) << added.error().message;
  }

  // A program with two calls of several CTAs with descriptors in scratch.
  std::string program() {
    const TargetEntry* entry = registry_.find("triton.scale_descriptor", DeviceKind::cuda);
    RZ_CHECK(entry != nullptr);
    Plan plan;
    plan.target = entry->spec.name;
    for (const std::int64_t rows : {200, 1000}) {
      CallStep step;
      step.call.dims = {{"M", rows}, {"N", 256}};
      step.call.config["indexing"] = Value("descriptor");
      plan.steps.emplace_back(step);
    }
    complete(plan, entry->spec);
    const auto source =
        standalone::recorded_source({&plan, &entry->spec, entry->make, FailKind::uninitialized});
    if (!source) {
      ADD_FAILURE() << source.error().message;
      return "";
    }
    // One inliner for the whole program, so it inserts each header once.
    standalone::SourceInliner inliner({}, [](const auto&) { return std::nullopt; });
    std::string all = *inliner.header("standalone/cuda.h");
    all += *inliner.header("standalone/recorded.h");
    const auto text = standalone::program_text(
        {&plan, &entry->spec, FailKind::uninitialized, "a test", all + *source, ""});
    EXPECT_TRUE(text);
    return text ? *text : "";
  }

  Ran built_and_run(const std::string& text) {
    const auto source = folder_.path() / "program.cu", binary = folder_.path() / "program";
    std::ofstream(source) << text;
    const Ran built =
        run(std::string(NVCC) + " -std=c++20 -O2 --expt-relaxed-constexpr -arch=sm_90 -L" + STUBS +
            " -o " + binary.string() + " " + source.string() + " -lcuda");
    EXPECT_EQ(built.code, 0) << built.out;
    return run(binary.string());
  }

  Registry registry_;
  TemporaryFolder folder_ = TemporaryFolder::create("program").value();
};

TEST_F(StandalonePackage, ShowsNothingOfACorrectLaunch) {
  const Ran ran = built_and_run(program());
  EXPECT_EQ(ran.code, 0) << ran.out;
  EXPECT_NE(ran.out.find("no failure"), std::string::npos) << ran.out;
}

TEST_F(StandalonePackage, FaultsWithTheScratchOfOneCta) {
  static const std::regex scratch(R"(\{"global_scratch", \d+, (\d+)\})");
  const std::string text = program();
  ASSERT_TRUE(std::regex_search(text, scratch)) << "no scratch in it";
  const Ran ran = built_and_run(std::regex_replace(text, scratch, "{\"global_scratch\", 256, $1}"));
  EXPECT_EQ(ran.code, 1) << ran.out;
  EXPECT_NE(ran.out.find("CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos) << ran.out;
}

}  // namespace
}  // namespace redzone
