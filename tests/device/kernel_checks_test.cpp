// The checks of the host device, on kernels of a shared object that was built for them.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <redzone/kernel.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "tests/device/on_device.h"

namespace redzone::device {
namespace {

using testing::Buffer;
using testing::host_device;
using testing::launch;
using testing::zero;

constexpr unsigned kThreads = 64, kBlocks = 3;
constexpr std::int64_t kElements = 65 * kBlocks;

class KernelCheckTest : public ::testing::Test {
 protected:
  void SetUp() override {
    library_ = dlopen(DEVICE_TEST_CHECKED, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << dlerror();
  }

  CheckReport run(const char* name, bool racy, std::uint64_t seed,
                  Allocator allocator = Allocator::guard,
                  SanitizerTool tool = SanitizerTool::races) {
    using Find = bool (*)(const char*, bool, KernelRef*);
    KernelRef kernel;
    const auto find = reinterpret_cast<Find>(dlsym(library_, "checked_kernel"));
    EXPECT_TRUE(find(name, racy, &kernel)) << name;
    auto device = host_device(seed);
    EXPECT_TRUE(device->check_kernels(tool));
    Buffer<int> out(*device, kElements, Placement::guard_after, allocator);
    zero(*device, out);
    device->set_call(4);
    int* values = out.data();
    void* pointers[] = {&values};
    const std::size_t sizes[] = {sizeof(void*)};
    constexpr std::string_view kOfBlocks[] = {"last_block", "last_block_of_parts", "resets_a_sum",
                                              "relay", "takes_back"};
    constexpr std::string_view kOfThread[] = {"relay", "takes_back"};
    const auto is_one_of = [&](const auto& names) {
      return std::find(std::begin(names), std::end(names), name) != std::end(names);
    };
    const LaunchShape shape{{is_one_of(kOfBlocks) ? kBlocks : 1}, {kThreads}, 256};
    EXPECT_TRUE(device->launch(0, kernel,
                               is_one_of(kOfThread) ? LaunchShape{{kBlocks}, {1}, 0} : shape,
                               {pointers, sizes, 1}));
    EXPECT_TRUE(device->synchronize());
    return device->take_check_report();
  }

  void* library_ = nullptr;  // stays loaded: a device may know its code
};

class KernelChecks : public KernelCheckTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(KernelChecks, FindTheRaceUnderEverySchedule) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    for (const auto allocator : {Allocator::guard, Allocator::plain}) {
      const CheckReport clean = run(GetParam(), false, seed, allocator);
      EXPECT_EQ(clean.problem, "");
      EXPECT_TRUE(clean.records.empty()) << seed << ": " << describe(clean.records.front());
      EXPECT_FALSE(run(GetParam(), true, seed, allocator).records.empty()) << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, KernelChecks,
                         ::testing::Values("through_shared", "through_dynamic_shared",
                                           "within_a_warp", "last_block", "last_block_of_parts",
                                           "resets_a_sum", "relay", "takes_back", "copies_rows",
                                           "bytes", "memory_barrier"));

// The line of the source with this mark.
int line_of(const std::string& mark) {
  std::ifstream in(CHECKED_KERNELS);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.find("// mark: " + mark) != std::string::npos) return number;
  }
  return -1;
}

using RaceRecords = KernelCheckTest;

TEST_F(RaceRecords, NameBothAccesses) {
  const CheckReport report = run("through_shared", true, 0);
  ASSERT_EQ(report.records.size(), 1u);
  const SanitizerRecord& race = report.records.front();
  const auto place = [](const char* mark) {
    return "checked_kernels.cpp:" + std::to_string(line_of(mark));
  };
  EXPECT_EQ(race.kernel, "through_shared");
  EXPECT_EQ(race.call, 4);
  EXPECT_EQ(race.buffer, "shared");
  EXPECT_EQ(race.size_bytes, 4);
  // In the natural order thread 0 runs first, and reads before thread 63 writes.
  EXPECT_EQ(race.kind, "race-war");
  EXPECT_EQ(race.thread, "32,0,0");
  EXPECT_EQ(race.block, "0,0,0");
  EXPECT_EQ(race.location, place("writes the tile"));
  EXPECT_EQ(race.other,
            "read at " + place("reads the tile") + " by thread (31,0,0) of block (0,0,0)");
}

struct OtherBug {
  SanitizerTool check;
  const char* kernel;
  const char* kind;  // of the record
  const char* mark;  // of its line; or ""
  bool warning = false;
};

void PrintTo(const OtherBug& bug, std::ostream* out) {
  *out << bug.kernel;
}

class OtherChecks : public KernelCheckTest, public ::testing::WithParamInterface<OtherBug> {};

TEST_P(OtherChecks, FindTheirBugUnderEveryScheduleAndNothingElse) {
  const OtherBug& bug = GetParam();
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const CheckReport clean = run(bug.kernel, false, seed, Allocator::guard, bug.check);
    EXPECT_EQ(clean.problem, "");
    EXPECT_TRUE(clean.records.empty()) << seed << ": " << describe(clean.records.front());
    const CheckReport report = run(bug.kernel, true, seed, Allocator::guard, bug.check);
    ASSERT_EQ(report.records.size(), 1u) << seed;
    const SanitizerRecord& record = report.records.front();
    EXPECT_EQ(record.kind, bug.kind);
    EXPECT_EQ(record.warning, bug.warning);
    EXPECT_EQ(record.kernel, bug.kernel);
    EXPECT_EQ(record.call, 4);
    EXPECT_EQ(record.block, "0,0,0");
    EXPECT_TRUE(record.location.starts_with("checked_kernels.cpp:")) << record.location;
    if (*bug.mark != 0) {
      EXPECT_EQ(record.location, "checked_kernels.cpp:" + std::to_string(line_of(bug.mark)));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, OtherChecks,
    ::testing::Values(
        OtherBug{SanitizerTool::init, "reads_neighbour", "uninitialized-read", "reads a neighbour"},
        OtherBug{SanitizerTool::init, "moves_padding", "uninitialized-read", ""},
        OtherBug{SanitizerTool::init, "copies_a_pair", "uninitialized-read", ""},
        OtherBug{SanitizerTool::sync, "shuffles_by_mask", "unnamed-lane", "by a mask"},
        OtherBug{SanitizerTool::sync, "sums_a_warp", "absent-lane", "shuffles", true},
        OtherBug{SanitizerTool::sync, "waits_for_all", "barrier-divergence", "waits", true},
        OtherBug{SanitizerTool::sync, "waits_in_a_branch", "barrier-divergence", ""},
        OtherBug{SanitizerTool::sync, "warps_wait_apart", "barrier-divergence", "", true},
        OtherBug{SanitizerTool::sync, "shuffles_in_branches", "divergent-lane", "", true},
        OtherBug{SanitizerTool::undefined, "multiplies", "undefined-overflow", "multiplies"},
        OtherBug{SanitizerTool::undefined, "shifts", "undefined-shift", ""},
        OtherBug{SanitizerTool::undefined, "indexes", "undefined-index", ""},
        OtherBug{SanitizerTool::undefined, "loads_vectors", "misaligned-access", ""}));

__global__ void adds_one(unsigned* at) {
  atomicAdd(at, 1u);
}

TEST(CheckReport, CodeThatWasNotBuiltForChecksIsAProblem) {
  auto device = host_device();
  ASSERT_TRUE(device->check_kernels(SanitizerTool::races));
  Buffer<unsigned> count(*device, 1);
  zero(*device, count);
  ASSERT_TRUE(launch(*device, 0, "adds_one", adds_one, {{2}, {64}}, count.data()));
  ASSERT_TRUE(device->synchronize());
  EXPECT_EQ(*count.data(), 128u);
  EXPECT_EQ(device->take_check_report().problem,
            "the code of kernel 'adds_one' was not built for checks");
  EXPECT_EQ(device->take_check_report().problem, "");
}

}  // namespace
}  // namespace redzone::device
