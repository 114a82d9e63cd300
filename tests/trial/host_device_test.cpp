// The runner over the host device: real kernels, real guard pages.
#include <csignal>

#include <gtest/gtest.h>
#include <redzone/kernel.h>
#include <redzone/target.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trial/device_trial_host.h"

namespace redzone::testing {
namespace {

__global__ void add_row(const float* x, float* y, int n, int extra) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n + extra) y[i] = x[i] + static_cast<float>(n);
}

__global__ void bump(int* counter) {
  atomicAdd(counter, 1);
}

// y = x + N. `extra`: elements written past the end. Counts its calls in a workspace and its
// launches in scratch.
struct AddRow : Target {
  static TargetSpec spec() {
    TargetSpec spec;
    spec.name = "add_row";
    spec.dims = {{.name = "N", .min = 0}};
    spec.tensors = {{.name = "x", .shape = shape_of({"N"}), .align_bytes = 4},
                    {.name = "y", .role = Role::out, .shape = shape_of({"N"}), .align_bytes = 4}};
    spec.knobs = {{.name = "extra", .values = {0, 1}}};
    spec.has_reference = true;
    return spec;
  }
  void run(Context& ctx) override {
    const int n = static_cast<int>(ctx.dim("N"));
    launch(ctx, "bump", bump, {}, static_cast<int*>(ctx.workspace("calls", 4)));
    launch(ctx, "bump", bump, {}, static_cast<int*>(ctx.scratch("tmp", 4)));
    launch(ctx, "add_row", add_row, {{n / 32 + 1}, {32}}, ctx.tensor("x").data<float>(),
           ctx.tensor("y").data<float>(), n, static_cast<int>(ctx.knob("extra")));
  }
  void reference(ReferenceCall& call) const override {
    for (std::size_t i = 0; i < call.input("x").size(); ++i)
      call.output("y")[i] = call.input("x")[i] + static_cast<double>(call.dim("N"));
  }
};

Registry registry() {
  Registry registry;
  EXPECT_TRUE(
      registry.add({AddRow::spec(), DeviceKind::host, [] { return std::make_unique<AddRow>(); }}));
  return registry;
}

CallStep sized_step(std::int64_t n, std::int64_t stream = 0, std::int64_t extra = 0) {
  Call call;
  call.dims = {{"N", n}};
  call.config = {{"extra", extra}};
  return {call, 2, stream};
}

Plan row_plan(std::vector<Step> steps) {
  Plan plan;
  plan.target = "add_row";
  plan.steps = std::move(steps);
  return plan;
}

class HostDevice : public ::testing::Test {
 protected:
  HostDevice() : targets(registry()), host(device::open_host_device(), targets, nullptr, "") {}
  Registry targets;
  trial::DeviceTrialHost host;
};

TEST_F(HostDevice, SaysWhatItIs) {
  EXPECT_EQ(host.hello().device, "host");
}

TEST_F(HostDevice, GivesTheSameObservationsInEveryMode) {
  const Plan plan = row_plan({sized_step(1), sized_step(100, 1), WaitStep{0, 1}, sized_step(0),
                              SyncStep{}, sized_step(33)});
  const Observation expected = host.run(plan, {});
  ASSERT_EQ(expected.end, End::completed) << expected.message;
  ASSERT_EQ(expected.calls.size(), 4u);
  for (const auto launch : {Launch::blocking, Launch::async, Launch::gated})
    for (const auto allocator :
         {Allocator::guard, Allocator::plain, Allocator::pool, Allocator::caching})
      for (const auto placement : {Placement::guard_after, Placement::guard_before})
        for (const std::uint64_t seed : {0, 1, 2, 3, 4, 5}) {
          Mode mode{launch, allocator, placement, 0x5a5a5a5au, seed};
          mode.callers = seed % 2 == 0 ? Callers::one : Callers::each;
          Observation o = host.run(plan, {.mode = mode, .reference = true});
          ASSERT_EQ(o.end, End::completed) << o.message;
          ASSERT_EQ(o.calls.size(), expected.calls.size());
          for (std::size_t i = 0; i < o.calls.size(); ++i) {
            for (auto& buffer : o.calls[i].buffers) {
              EXPECT_EQ(buffer.surrounded, allocator == Allocator::guard);
              buffer.surrounded = true;  // as in `expected`
            }
            EXPECT_EQ(o.calls[i].buffers, expected.calls[i].buffers);
            EXPECT_EQ(o.calls[i].launches, expected.calls[i].launches);
            // The call of size 0 has no element to compare.
            ASSERT_EQ(o.calls[i].references.size(), i == 2 ? 0u : 1u);
            if (i != 2) {
              EXPECT_EQ(o.calls[i].references[0].mismatches, 0u);
            }
          }
        }
}

// The kernel copies what it reads past the end of x, a canary, past the end of y.
TEST_F(HostDevice, WideCanariesShowAWriteShortlyPastABuffer) {
  for (const auto placement : {Placement::guard_after, Placement::guard_before})
    for (const std::int64_t n : {0, 1, 100, 5000}) {
      const Observation o = host.run(row_plan({sized_step(n, 0, 1)}),
                                     {.mode = {.placement = placement}, .wide_canaries = true});
      ASSERT_EQ(o.end, End::completed) << o.message;
      const BufferObservation& y = o.calls.at(0).buffers.at(1);
      EXPECT_EQ(y.name, "y");
      EXPECT_TRUE(y.surrounded);
      EXPECT_EQ(y.dirty_after, 4u);
      EXPECT_EQ(y.first_dirty_byte, 4 * n);
      EXPECT_EQ(y.dirty_before, 0u);
    }
}

TEST_F(HostDevice, WideCanariesChangeNothingElse) {
  const Plan plan = row_plan({sized_step(1), sized_step(100, 1), WaitStep{0, 1}, sized_step(0),
                              SyncStep{}, sized_step(33)});
  for (const auto allocator :
       {Allocator::guard, Allocator::plain, Allocator::pool, Allocator::caching}) {
    const Observation narrow = host.run(plan, {.mode = {.allocator = allocator}});
    const Observation wide =
        host.run(plan, {.mode = {.allocator = allocator}, .wide_canaries = true});
    EXPECT_EQ(wide.end, End::completed) << wide.message;
    EXPECT_EQ(wide.calls, narrow.calls);
  }
}

TEST_F(HostDevice, ASteadyStateTrialMapsNothing) {
  const Plan plan = row_plan({sized_step(1), sized_step(100), sized_step(5000)});
  host.run(plan, {});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(host.run(plan, {}).mapping_calls, 0u);
}

TEST_F(HostDevice, SparseTensorsOfGigabytesAreCheap) {
  // Rows with a pitch of 3 GiB.
  TargetSpec spec = AddRow::spec();
  spec.name = "sparse";
  for (auto& t : spec.tensors) {
    t.shape = [](const Dims& d) { return Shape{2, get(d, "N")}; };
    t.layouts = LayoutRules::strided();
  }
  spec.has_reference = false;
  struct Nothing : Target {
    void run(Context&) override {}
  };
  ASSERT_TRUE(targets.add({spec, DeviceKind::host, [] { return std::make_unique<Nothing>(); }}));
  CallStep sparse = sized_step(8);
  sparse.call.layouts["x"].row_padding_elems = std::int64_t{3} << 28;
  Plan plan = row_plan({sparse});
  plan.target = "sparse";
  const Observation o = host.run(plan, {});
  EXPECT_EQ(o.end, End::completed) << o.message;
  EXPECT_GT(o.bytes, std::uint64_t{3} << 30);
}

// The marks that a worker leaves which runs this plan and ends by a fault.
device::BlackBox left_by(const Registry& targets, const Plan& plan) {
  void* page = mmap(nullptr, sizeof(device::BlackBox), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(page, MAP_FAILED);
  auto* box = new (page) device::BlackBox;
  const pid_t pid = fork();
  if (pid == 0) {
    trial::DeviceTrialHost host(device::open_host_device(), targets, box, "");
    host.run(plan, {});
    _exit(0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), device::kFaultExit);
  const device::BlackBox left = *box;
  munmap(page, sizeof(device::BlackBox));
  return left;
}

TEST(HostDeviceFault, IsRecordedWithItsBuffer) {
  const auto box = left_by(registry(), row_plan({sized_step(64), sized_step(64, 0, 1)}));
  EXPECT_EQ(box.fault.valid, device::kFaultOfSignal);
  EXPECT_EQ(box.call_running, 1);
  EXPECT_STREQ(box.kernel, "add_row");
  // The load of x[64] comes before the store of y[64].
  EXPECT_STREQ(box.fault.buffer, "x");
  EXPECT_EQ(box.fault.side, static_cast<std::uint32_t>(Side::after));
  EXPECT_EQ(box.fault.access, static_cast<std::uint32_t>(Access::read));
  EXPECT_EQ(box.fault.thread[0], 0u);
  EXPECT_EQ(box.fault.block[0], 2u);
}

__global__ void write_shared(int at) {
  dynamic_shared<volatile char>()[at] = 1;
}

// Writes N bytes behind 100 bytes of dynamic shared memory.
struct WritesBehindShared : Target {
  void run(Context& ctx) override {
    launch(ctx, "write_shared", write_shared, {{1}, {1}, 100}, 99 + static_cast<int>(ctx.dim("N")));
  }
};

// A write that misses by little ends before the guard page, and is seen when the block ends.
TEST(HostDeviceFault, BehindSharedMemoryHasOneNameByWhateverItMisses) {
  Registry targets;
  TargetSpec spec = AddRow::spec();
  spec.has_reference = false;
  ASSERT_TRUE(
      targets.add({spec, DeviceKind::host, [] { return std::make_unique<WritesBehindShared>(); }}));
  const auto box = left_by(targets, row_plan({sized_step(13)}));
  EXPECT_STREQ(box.kernel, "write_shared");
  EXPECT_STREQ(box.fault.buffer, "shared");
  EXPECT_EQ(box.fault.side, static_cast<std::uint32_t>(Side::after));
  EXPECT_EQ(box.fault.access, static_cast<std::uint32_t>(Access::write));

  trial::DeviceTrialHost host(device::open_host_device(), targets, nullptr, "");
  const Observation o = host.run(row_plan({sized_step(0), sized_step(12)}), {});
  ASSERT_TRUE(o.fault);
  EXPECT_EQ(o.fault->code, kSharedOverrunCode);
  EXPECT_EQ(o.fault->kernel, "write_shared");
  EXPECT_EQ(o.fault->buffer, "shared");
  EXPECT_EQ(o.fault->side, Side::after);
  EXPECT_EQ(o.fault->access, Access::write);
  EXPECT_EQ(o.fault->distance_bytes, 12);
}

// Crashes in its host code, in one place.
class Crashes final : public Target {
 public:
  explicit Crashes(device::Phase in) : in_(in) { crash(device::Phase::constructing); }
  ~Crashes() override { crash(device::Phase::destroying); }
  void run(Context&) override { crash(device::Phase::running); }

 private:
  void crash(device::Phase here) const {
    if (here == in_) raise(SIGSEGV);
  }
  device::Phase in_;
};

TEST(HostDeviceFault, OfHostCodeSaysWhereAndNamesNoThread) {
  for (const auto in :
       {device::Phase::constructing, device::Phase::running, device::Phase::destroying}) {
    Registry targets;
    TargetSpec spec = AddRow::spec();
    spec.has_reference = false;
    ASSERT_TRUE(
        targets.add({spec, DeviceKind::host, [in] { return std::make_unique<Crashes>(in); }}));
    const auto box = left_by(targets, row_plan({sized_step(8)}));
    EXPECT_EQ(box.phase, in);
    EXPECT_EQ(box.fault.valid, device::kFaultOfSignal | device::kFaultOfHostCode);
    EXPECT_STREQ(box.kernel, "");
    EXPECT_EQ(box.call_begun != box.call_ended, in == device::Phase::running);
  }
}

}  // namespace
}  // namespace redzone::testing
