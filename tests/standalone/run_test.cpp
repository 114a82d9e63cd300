// The part of an exported program that does not depend on CUDA, on targets with known bugs.
#include "standalone/run.h"

#include <gtest/gtest.h>

#include "standalone/fake_machine.h"

namespace redzone::standalone {
namespace {

using testing::FakeMachine;

struct BugTarget : Target {
  explicit BugTarget(void (*kernel)(const float*, float*, std::int64_t)) : kernel_(kernel) {}
  void run(Context& ctx) override {
    launch(ctx, "kernel", kernel_, {}, ctx.tensor("x").data<float>(), ctx.tensor("y").data<float>(),
           ctx.dim("N"));
  }
  void (*kernel_)(const float*, float*, std::int64_t);
};

void correct(const float* x, float* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];
}
void write_before(const float* x, float* y, std::int64_t n) {
  correct(x, y, n);
  y[-1] = 0;
}
void write_after(const float* x, float* y, std::int64_t n) {
  correct(x, y, n);
  y[n] = 0;
}
void write_input(const float* x, float* y, std::int64_t n) {
  correct(x, y, n);
  const_cast<float*>(x)[n - 1] = 0.5f;
}
void leave_last(const float* x, float* y, std::int64_t n) {
  correct(x, y, n - 1);
}
void read_after(const float* x, float* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i + 1];
}

device::BufferJob job_of(Role role, std::int64_t n) {
  device::BufferJob job = {};
  job.rank = 1;
  job.size[0] = job.numel = n;
  job.stride[0] = 1;
  job.dtype = static_cast<std::uint8_t>(DType::f32);
  job.fill = role == Role::out ? device::FillKind::poison : device::FillKind::uniform;
  job.lo = -1;
  job.hi = 1;
  job.seed = 7;
  return job;
}

TensorData tensor(const char* name, Role role, std::int64_t n) {
  return {name, DType::f32, role, {n}, {1}, static_cast<std::size_t>(n) * 4, 0, 4, job_of(role, n)};
}

CallData call(std::int64_t n, int stream = 0) {
  return {{{"N", n}}, {}, 1, stream, {tensor("x", Role::in, n), tensor("y", Role::out, n)}};
}

constexpr TrialData kTail{"tail", Order::async, true, 0xffffffffu, false};
constexpr TrialData kHead{"head", Order::blocking, false, 0xffffffffu, false};
constexpr TrialData kPoison{"poison", Order::async, true, 0x7fc00badu, false};
constexpr TrialData kAlone{"alone", Order::blocking, true, 0xffffffffu, true};

Program program(std::vector<TrialData> trials, std::vector<CallData> calls) {
  Program p{"bug", 1, 0, true, std::move(calls), {}, std::move(trials)};
  for (int i = 0; i < static_cast<int>(p.calls.size()); ++i) {
    p.steps.push_back({StepData::Kind::call, i, 0, 0});
    p.streams = std::max(p.streams, p.calls[static_cast<std::size_t>(i)].stream + 1);
  }
  return p;
}

int run_kernel(void (*kernel)(const float*, float*, std::int64_t), std::vector<TrialData> trials) {
  FakeMachine machine;
  return run(machine, program(std::move(trials), {call(33), call(5)}),
             [&] { return std::make_unique<BugTarget>(kernel); });
}

TEST(StandaloneRun, ACorrectTargetShowsNoFailure) {
  EXPECT_EQ(run_kernel(correct, {kTail, kHead, kPoison, kAlone}), 0);
}

TEST(StandaloneRun, AWriteAroundABufferShows) {
  EXPECT_EQ(run_kernel(write_before, {kTail}), 1);
  EXPECT_EQ(run_kernel(write_after, {kHead}), 1);
}

TEST(StandaloneRun, ASkewMovesABufferFromTheMultiplesOfItsAlignment) {
  FakeMachine machine;
  for (const TrialData& trial : {kTail, kHead}) {
    Program p = program({trial}, {call(4)});
    TensorData& x = p.calls[0].tensors[0];
    x.align = 32;
    x.skew_bytes = 16;
    std::uintptr_t at = 0;
    struct Looks : Target {
      explicit Looks(std::uintptr_t& at) : at_(at) {}
      void run(Context& ctx) override {
        at_ = reinterpret_cast<std::uintptr_t>(ctx.tensor("x").base);
        launch(ctx, "kernel", correct, {}, ctx.tensor("x").data<float>(),
               ctx.tensor("y").data<float>(), ctx.dim("N"));
      }
      std::uintptr_t& at_;
    };
    EXPECT_EQ(run(machine, p, [&] { return std::make_unique<Looks>(at); }), 0);
    EXPECT_EQ(at % 32, 16u) << trial.what;
  }
}

TEST(StandaloneRun, AWriteToAnInputShows) {
  EXPECT_EQ(run_kernel(write_input, {kTail}), 1);
}

TEST(StandaloneRun, AnOutputThatNobodyWroteShowsWithAnotherPoison) {
  EXPECT_EQ(run_kernel(leave_last, {kTail, kTail}), 0);
  EXPECT_EQ(run_kernel(leave_last, {kTail, kPoison}), 1);
}

TEST(StandaloneRunDeathTest, AnAccessBeyondTheBufferFaults) {
  EXPECT_EXIT(run_kernel(write_after, {kTail}), ::testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(run_kernel(read_after, {kTail}), ::testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(run_kernel(write_before, {kHead}), ::testing::KilledBySignal(SIGSEGV), "");
}

// Keeps the size of the first call.
struct StaleSize : Target {
  void run(Context& ctx) override {
    if (size_ == 0) size_ = ctx.dim("N");
    launch(ctx, "kernel", correct, {}, ctx.tensor("x").data<float>(), ctx.tensor("y").data<float>(),
           std::min(size_, ctx.dim("N")));
  }
  std::int64_t size_ = 0;
};

TEST(StandaloneRun, AnOutputThatDependsOnEarlierCallsShowsWhenEachRunsAlone) {
  const auto make = [] { return std::make_unique<StaleSize>(); };
  FakeMachine machine;
  EXPECT_EQ(run(machine, program({kTail, kAlone}, {call(5), call(9)}), make), 1);
  EXPECT_EQ(run(machine, program({kTail, kAlone}, {call(9), call(5)}), make), 0);
}

// The host writes the argument of the next call before the kernel has read it.
struct SharedArgument : Target {
  void run(Context& ctx) override {
    auto* factor = static_cast<float*>(ctx.pinned_memory("factor", sizeof(float)));
    *factor = static_cast<float>(ctx.dim("N"));
    launch(ctx, "kernel", scaled, {}, ctx.tensor("x").data<float>(), ctx.tensor("y").data<float>(),
           ctx.dim("N"), factor);
  }
  static void scaled(const float* x, float* y, std::int64_t n, const float* factor) {
    for (std::int64_t i = 0; i < n; ++i) y[i] = *factor * x[i];
  }
};

TEST(StandaloneRun, WhatIsHeldSeesWhatTheHostDoesLater) {
  constexpr TrialData kGated{"gated", Order::gated, true, 0xffffffffu, false};
  const auto make = [] { return std::make_unique<SharedArgument>(); };
  FakeMachine machine;
  EXPECT_EQ(run(machine, program({kGated, kHead}, {call(5), call(9)}), make), 1);
  EXPECT_EQ(run(machine, program({kTail, kHead}, {call(5), call(9)}), make), 0);
}

struct Memories : Target {
  void run(Context& ctx) override {
    auto* scratch = static_cast<float*>(ctx.scratch("s", 12, 4));
    auto* kept = static_cast<float*>(ctx.workspace("w", 8, 4));
    launch(ctx, "kernel", use, {}, ctx.tensor("y").data<float>(), scratch, kept, overrun);
  }
  static void use(float* y, float* scratch, float* kept, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) scratch[i] = 1;
    kept[0] += 1;
    for (int i = 0; i < 5; ++i) y[i] = kept[0] + kept[1] + scratch[0];
  }
  static inline std::int64_t overrun = 3;
};

TEST(StandaloneRun, ScratchIsWatchedAndAWorkspaceIsKeptAndZero) {
  const auto make = [] { return std::make_unique<Memories>(); };
  FakeMachine machine;
  Memories::overrun = 3;
  EXPECT_EQ(run(machine, program({kTail, kHead}, {call(5), call(5)}), make), 0);
  // The second call finds the counter of the first; alone it does not.
  EXPECT_EQ(run(machine, program({kTail, kAlone}, {call(5), call(5)}), make), 1);
  Memories::overrun = 4;
  EXPECT_EQ(run(machine, program({kHead}, {call(5)}), make), 1);
}

TEST(StandaloneRun, CallsOnTwoStreamsAreInOrderUnlessTheTargetAllowsOtherwise) {
  for (const bool ordered : {true, false}) {
    Program p = program({kTail}, {call(5, 0), call(5, 1)});
    p.ordered = ordered;
    FakeMachine machine;
    EXPECT_EQ(run(machine, p, [] { return std::make_unique<BugTarget>(correct); }), 0);
    EXPECT_EQ(machine.waits, ordered ? "1<0 " : "");
  }
}

struct Refuses : Target {
  void run(Context& ctx) override { ctx.fail("cublas", "status 13"); }
};

TEST(StandaloneRun, AFailureOfTheWrapperShows) {
  FakeMachine machine;
  EXPECT_EQ(run(machine, program({kTail}, {call(5)}), [] { return std::make_unique<Refuses>(); }),
            1);
}

TEST(StandaloneRun, PaddedRowsHaveWatchedGaps) {
  // Three rows of two elements with a pitch of five.
  CallData c = call(6);
  TensorData& y = c.tensors[1];
  y.job.rank = 2;
  y.job.size[0] = 3, y.job.size[1] = 2;
  y.job.stride[0] = 5, y.job.stride[1] = 1;
  y.storage_bytes = 12 * 4;
  struct Padded : Target {
    void run(Context& ctx) override {
      launch(ctx, "kernel", fill, {}, ctx.tensor("y").data<float>(), ctx.dim("N"));
    }
    static void fill(float* y, std::int64_t width) {
      for (int row = 0; row < 3; ++row)
        for (int i = 0; i < width; ++i) y[row * 5 + i] = 1;
    }
  };
  FakeMachine machine;
  const auto make = [] { return std::make_unique<Padded>(); };
  c.dims["N"] = 2;
  EXPECT_EQ(run(machine, program({kTail}, {c}), make), 0);
  c.dims["N"] = 3;
  EXPECT_EQ(run(machine, program({kHead}, {c}), make), 1);
}

}  // namespace
}  // namespace redzone::standalone
