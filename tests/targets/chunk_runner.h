// Runs plans of the chunk targets on the device that the test executable was built for.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "device/device.h"
#include "targets/chunk_plugin.h"
#include "trial/trial_runner.h"

namespace redzone::test {

// The device, or the reason why there is none. Defined once for each kind of plugin: host_side.cpp,
// cuda_side.cpp.
std::variant<std::unique_ptr<device::Device>, std::string> open_test_device();

class ChunkRunner {
 public:
  explicit ChunkRunner(std::unique_ptr<device::Device> device);
  // A lost device cannot be torn down; the destructor then ends the process as a failed test.
  ~ChunkRunner();

  Observation run(const Plan& plan, const TrialSpec& trial) { return runner_->run(plan, trial); }

  // Checks the plan in two trials that differ in order, launch mode, placement and poison: it
  // completes, outputs match the reference if the call is small enough, no byte outside the buffers
  // and no input changes, digests agree. Returns how many outputs were compared with the reference.
  std::size_t expect_clean(const Plan& plan, const TargetSpec& spec);

 private:
  void compare_trials(const Plan& plan, const TargetSpec& spec, std::size_t& compared);

  std::unique_ptr<device::Device> device_;
  Registry registry_;
  std::unique_ptr<trial::TrialRunner> runner_;
};

// A test of one target (the parameter) on the device; skipped, with the reason, if there is no
// device.
class ChunkTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override;
  const TargetSpec& spec() const;
  ChunkRunner& runner() { return *runner_; }

 private:
  std::optional<ChunkRunner> runner_;
};

}  // namespace redzone::test
