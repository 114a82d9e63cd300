// Runs the tests or, with --redzone-child=NAME, one scenario that ends in a fault. A fault destroys
// the context, so each scenario needs its own process.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/temporary_folder.h"
#include "gpu/gpu_fixture.h"

namespace {

constexpr std::string_view kChild = "--redzone-child=";

class CloseDevice : public testing::Environment {
  void TearDown() override { redzone::gpu_test::close_device(); }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]).starts_with(kChild))
    return redzone::gpu_test::child_main(argv[1] + kChild.size());
  testing::InitGoogleTest(&argc, argv);
  testing::AddGlobalTestEnvironment(new CloseDevice);  // owned by GoogleTest

  // Compiled variants go to a folder that only this run uses.
  const auto cache = redzone::TemporaryFolder::create("gpu-test").value();
  setenv("REDZONE_CACHE_DIR", cache.path().c_str(), 1);
  return RUN_ALL_TESTS();
}
