// Plans of the chunk kernels, prepared in workers that compile the kernels they will need. Requires
// NVRTC but no GPU.
#include "campaign/compile_ahead.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "device/device.h"
#include "e2e/cli.h"
#include "exec/pool.h"
#include "generators/plan_generator.h"
#include "target/registry.h"

namespace redzone::e2e {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kWorkers = 2;

class CompileAheadE2e : public testing::Test {
 protected:
  void SetUp() override {
    if (device::probe_cuda().nvrtc.empty()) GTEST_SKIP() << "NVRTC is not installed";
    setenv("REDZONE_CACHE_DIR", folder_.path().c_str(), 1);
    auto registry = Registry::load(shipped_plugins());
    ASSERT_TRUE(registry) << registry.error().message;
    registry_ = std::move(*registry);
    target_ = registry_.find("chunk_fwd_h", DeviceKind::dry_run);
    ASSERT_NE(target_, nullptr);
  }
  void TearDown() override { unsetenv("REDZONE_CACHE_DIR"); }

  // Whether all preparations ended in time.
  bool prepare(std::vector<Plan> plans) {
    campaign::CompileAheadOptions options;
    options.workers = kWorkers;
    options.knows = [](const TargetSpec&) { return true; };
    options.start = [&] {
      exec::PoolOptions pool;
      pool.command.argv = {REDZONE_BINARY_PATH, "worker", "--device", "dry-run",
                           "--compile-for",     "90",     "--plugin", target_->origin.path};
      pool.workers = kWorkers;
      pool.spares = 0;
      auto made = std::make_unique<exec::Pool>(std::move(pool));
      pool_ = made.get();
      return made;
    };
    campaign::CompileAhead ahead(std::move(options));
    std::vector<campaign::Preparer::Ticket> open;
    for (const auto& plan : plans) open.push_back(ahead.prepare(plan));
    const auto until = steady_clock::now() + std::chrono::minutes(5);
    while (!open.empty() && steady_clock::now() < until) {
      ahead.wait(milliseconds(50));
      std::erase_if(open, [&](auto ticket) { return ahead.done(ticket); });
    }
    lost_ = pool_->stats().workers_lost;
    return open.empty();
  }
  std::vector<fs::path> entries() const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::directory_iterator(folder_.path() / "nvrtc"))
      all.push_back(entry.path());
    std::sort(all.begin(), all.end());
    return all;
  }

  TempFolder folder_;
  Registry registry_;
  const TargetEntry* target_ = nullptr;
  exec::Pool* pool_ = nullptr;
  std::uint64_t lost_ = 0;
};

TEST_F(CompileAheadE2e, VariantsOfPlansAreOnDisk) {
  generators::PlanGenerator generator(target_->spec, generators::host_budget(), 3);
  std::vector<Plan> plans;
  for (int i = 0; i < 4; ++i) plans.push_back(generator.next());
  ASSERT_TRUE(prepare(plans));
  EXPECT_EQ(lost_, 0u);
  const auto once = entries();
  EXPECT_FALSE(once.empty());
  for (const auto& file : once) EXPECT_EQ(file.extension(), ".cubin");
  // A rewritten file would be another file under the same name.
  for (const auto& file : once) fs::create_hard_link(file, folder_.path() / file.filename());
  ASSERT_TRUE(prepare(plans));
  EXPECT_EQ(entries(), once) << "of the same plans the same variants";
  for (const auto& file : once) EXPECT_TRUE(fs::equivalent(file, folder_.path() / file.filename()));
}

// The preparation of a plan that no worker can run ends, too; the trial reports the reason.
TEST_F(CompileAheadE2e, WhatCannotBeRunIsOver) {
  Plan unknown;
  unknown.target = "no_such_target";
  unknown.steps.emplace_back(CallStep{});
  EXPECT_TRUE(prepare({unknown, unknown}));
}

}  // namespace
}  // namespace redzone::e2e
