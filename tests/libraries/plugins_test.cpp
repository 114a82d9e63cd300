// The plugins over libraries, as a user loads them where there is no GPU: their specs are valid,
// plans can be made of them under the budget of a GPU, and on the host device they say why they do
// not run.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <vector>

#include "core/validate.h"
#include "generators/plan_generator.h"
#include "target/registry.h"
#include "trial/device_trial_host.h"

namespace redzone::test {
namespace {

const Registry& registry() {
  static const Registry all = [] {
    std::vector<std::filesystem::path> plugins;
    for (const auto& file : std::filesystem::directory_iterator(LIBRARIES_FOLDER))
      if (file.path().string().ends_with(".host.so")) plugins.push_back(file.path());
    return Registry::load(plugins).value();
  }();
  return all;
}

TEST(LibraryPlugins, HaveAHundredTargetsOverSixLibraries) {
  std::set<std::string> libraries;
  for (const auto& name : registry().names()) libraries.insert(name.substr(0, name.find('.')));
  EXPECT_EQ(libraries,
            (std::set<std::string>{"cub", "cublas", "cublaslt", "cufft", "cusparse", "thrust"}));
  EXPECT_GE(registry().names().size(), 100u);
}

TEST(LibraryPlugins, EveryTargetIsComparedWithAReference) {
  for (const auto& entry : registry().entries()) {
    EXPECT_TRUE(entry.spec.has_reference) << entry.spec.name;
    EXPECT_NE(entry.spec.doc, "") << entry.spec.name;
  }
}

TEST(LibraryPlugins, PlansOfEveryTargetFitItsSpec) {
  constexpr std::int64_t kMemory = std::int64_t{80} << 30;
  for (const auto& entry : registry().entries()) {
    generators::PlanGenerator plans(entry.spec, generators::gpu_budget(kMemory), 7);
    for (int i = 0; i < 10; ++i) {
      const auto valid = validate(plans.next(), entry.spec);
      EXPECT_TRUE(valid) << entry.spec.name << ": " << valid.error().message;
    }
  }
}

TEST(LibraryPlugins, OnTheHostDeviceTheReasonIsToldAndNothingIsJudged) {
  trial::DeviceTrialHost host(device::open_host_device(), registry(), nullptr, "");
  for (const char* name :
       {"cublas.sgemm", "cublaslt.matmul.f16", "cufft.1d.r2c", "cub.scan.exclusive.i32"}) {
    const auto target = registry().require(name, DeviceKind::host);
    ASSERT_TRUE(target) << target.error().message;
    generators::PlanGenerator plans((*target)->spec, generators::host_budget(), 3);
    const Observation seen = host.run(plans.next(), {.reference = true});
    EXPECT_EQ(seen.end, End::unsupported) << name << ": " << seen.message;
    EXPECT_NE(seen.message.find("--device cuda"), std::string::npos) << seen.message;
  }
}

}  // namespace
}  // namespace redzone::test
