// Compiles the example like its author, with only build/include of this tree, and runs the result.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "core/temporary_folder.h"
#include "trial/device_trial_host.h"

namespace redzone {
namespace {

using std::filesystem::path;

TEST(PluginExample, CompilesOutsideTheBuildTreeAndRuns) {
  const auto folder = TemporaryFolder::create("plugin").value();
  std::filesystem::copy_file(EXAMPLE_SOURCE, folder.path() / "scale.cu");
  const path plugin = folder.path() / "scale.host.so";
  const std::string command = fmt::format(
      "cd '{}' && {} -std=c++20 -O2 -Wall -Werror=return-type -shared -fPIC -fvisibility=hidden "
      "-I '{}' -x c++ scale.cu -o '{}'",
      folder.path().string(), COMPILER, INCLUDE_DIR, plugin.string());
  ASSERT_EQ(std::system(command.c_str()), 0) << command;

  const path plugins[] = {plugin};
  const auto registry = Registry::load(plugins);
  ASSERT_TRUE(registry) << registry.error().message;
  ASSERT_TRUE(registry->require("example.scale", DeviceKind::host));

  Call call;
  call.dims = {{"R", 5}, {"C", 65}};
  call.config = {{"a", 3}};
  call.layouts["x"] = {.row_padding_elems = 7, .offset_elems = 3};
  Plan plan;
  plan.target = "example.scale";
  plan.steps = {CallStep{call, 1, 0}};
  trial::DeviceTrialHost host(device::open_host_device(), *registry, nullptr, "");
  const Observation o = host.run(plan, {.reference = true});
  ASSERT_EQ(o.end, End::completed) << o.message;
  ASSERT_EQ(o.calls.size(), 1u);
  for (const auto& buffer : o.calls[0].buffers)
    EXPECT_EQ(buffer.dirty_before + buffer.dirty_after + buffer.dirty_gaps + buffer.changed, 0u);
  ASSERT_EQ(o.calls[0].references.size(), 1u);
  EXPECT_EQ(o.calls[0].references[0].numel, 5u * 65);
  EXPECT_EQ(o.calls[0].references[0].mismatches, 0u);
}

}  // namespace
}  // namespace redzone
