// Bad accesses: a child process makes them, and the parent reads the black box.
#include <gtest/gtest.h>
#include <redzone/kernel.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <functional>
#include <thread>

#include "core/trial.h"
#include "tests/device/in_child.h"

namespace redzone::device {
namespace {

using testing::Buffer;
using testing::Ended;
using testing::expect_fault;
using testing::host_device;
using testing::in_child;
using testing::launch;

__global__ void write_at(int* p, long long at) {
  if (blockIdx.x == 2 && threadIdx.x == 3) p[at] = 1;
}
// A planted error that the host device must find. UndefinedBehaviorSanitizer would end the process
// first, so this function is not instrumented.
__attribute__((no_sanitize("undefined"))) __global__ void read_at(const int* p, long long at,
                                                                  int* out) {
  *out = p[at];
}

TEST(Fault, AWritePastTheEndNamesTheBufferAndTheThread) {
  const Ended ended = in_child([](Device& device) {
    Buffer<int> x(device, 10), y(device, 1000);
    device.watch({x.range("x"), y.range("y")});
    device.set_call(4);
    (void)launch(device, 0, "write_at", write_at, {{5}, {32}}, x.data(), 10);
    (void)device.synchronize();
  });
  expect_fault(ended, SIGSEGV);
  const FaultRecord& f = ended.box.fault;
  EXPECT_STREQ(f.buffer, "x");
  EXPECT_EQ(f.access, static_cast<std::uint32_t>(Access::write));
  EXPECT_EQ(f.side, static_cast<std::uint32_t>(Side::after));
  EXPECT_EQ(f.distance_bytes, 1);
  EXPECT_EQ(f.block[0], 2u);
  EXPECT_EQ(f.thread[0], 3u);
  EXPECT_STREQ(ended.box.kernel, "write_at");
  EXPECT_EQ(ended.box.call_running, 4);
}

// The earlier buffer ended nearer to the guard page.
TEST(Fault, MemoryOfTwoCallsIsThatOfTheLatestWhichTheKernelCanKnow) {
  for (const std::int32_t call : {0, 1, 2}) {
    const Ended ended = in_child([&](Device& device) {
      Buffer<int> memory(device, 10);
      NamedRange earlier = memory.range("earlier", 0), later = memory.range("later", 1);
      earlier.region = later.region = {reinterpret_cast<std::byte*>(memory.data()), 40};
      later.end = later.begin + 20;
      device.watch({earlier, later});
      device.set_call(call);
      (void)launch(device, 0, "write_at", write_at, {{5}, {32}}, memory.data(), 10);
      (void)device.synchronize();
    });
    expect_fault(ended, SIGSEGV);
    EXPECT_STREQ(ended.box.fault.buffer, call == 0 ? "earlier" : "later") << call;
    EXPECT_EQ(ended.box.fault.distance_bytes, call == 0 ? 1 : 21) << call;
  }
}

TEST(MayMean, WhatRunsLaterIsMeantByNoCallWhateverItsNumber) {
  static std::byte memory[64];
  const Region region{memory, sizeof memory};
  // Call 1 runs before call 0.
  const NamedRange first{"first", 1, memory, memory + 64, region, 0};
  const NamedRange second{"second", 0, memory, memory + 64, region, 1};
  const std::vector<NamedRange> ranges{first, second};
  EXPECT_TRUE(may_mean(ranges, 0, 1));
  EXPECT_FALSE(may_mean(ranges, 1, 1));
  EXPECT_FALSE(may_mean(ranges, 0, 0)) << "its memory is the second's by then";
  EXPECT_TRUE(may_mean(ranges, 1, 0));
}

// Between buffers that are watched, and nearer to one of them.
TEST(Fault, MemoryOfOthersIsNamedByThem) {
  const Ended ended = in_child([](Device& device) {
    Buffer<int> x(device, 10), y(device, 1000);
    device.watch({x.range("x"), y.range("y")});
    static const std::byte* past_x;
    past_x = reinterpret_cast<const std::byte*>(x.data() + 10);
    device.set_other_blocks([](const void* at, OtherBlock& out) {
      copy_name(out.name, "torch#1");
      out.begin = past_x + 8;
      out.end = past_x + 16;
      return at >= past_x;
    });
    (void)launch(device, 0, "write_at", write_at, {{5}, {32}}, x.data(), 16);
    (void)device.synchronize();
  });
  expect_fault(ended, SIGSEGV);
  EXPECT_STREQ(ended.box.fault.buffer, "torch#1");
  EXPECT_EQ(ended.box.fault.side, static_cast<std::uint32_t>(Side::after));
  EXPECT_EQ(ended.box.fault.distance_bytes, 9);
}

TEST(Fault, AReadBeforeTheStart) {
  const Ended ended = in_child([](Device& device) {
    Buffer<int> x(device, 10, Placement::guard_before), out(device, 1);
    device.watch({out.range("out"), x.range("x")});
    (void)launch(device, 0, "read_at", read_at, {{1}, {1}}, x.data(), -5, out.data());
    (void)device.synchronize();
  });
  expect_fault(ended, SIGSEGV);
  const FaultRecord& f = ended.box.fault;
  EXPECT_STREQ(f.buffer, "x");
  EXPECT_EQ(f.access, static_cast<std::uint32_t>(Access::read));
  EXPECT_EQ(f.side, static_cast<std::uint32_t>(Side::before));
  EXPECT_EQ(f.distance_bytes, 20);
}

TEST(Fault, AFarAccessStillBelongsToTheNearestBuffer) {
  const Ended ended = in_child([](Device& device) {
    Buffer<int> x(device, 10), out(device, 1);
    device.watch({x.range("x")});
    (void)launch(device, 0, "read_at", read_at, {{1}, {1}}, x.data(), 1ll << 36, out.data());
    (void)device.synchronize();
  });
  expect_fault(ended, SIGSEGV);
  EXPECT_STREQ(ended.box.fault.buffer, "x");
  EXPECT_EQ(ended.box.fault.side, static_cast<std::uint32_t>(Side::after));
}

TEST(Fault, AWildPointerBelongsToNoBuffer) {
  const Ended ended = in_child([](Device& device) {
    Buffer<int> x(device, 10);
    device.watch({x.range("x")});
    (void)launch(device, 0, "read_at", read_at, {{1}, {1}}, nullptr, 2, x.data());
    (void)device.synchronize();
  });
  expect_fault(ended, SIGSEGV);
  EXPECT_STREQ(ended.box.fault.buffer, "");
  EXPECT_EQ(ended.box.fault.access, static_cast<std::uint32_t>(Access::read));
}

// In assembly, because a misaligned access of C++ is undefined, and ends a test under a sanitizer.
__global__ void copy_vector(const float* from, float* to) {
  asm volatile("movaps (%0), %%xmm0\n\tmovaps %%xmm0, (%1)" ::"r"(from), "r"(to)
               : "xmm0", "memory");
}

TEST(Fault, AVectorThatIsNotAlignedIsNoWildPointer) {
  for (const bool store : {false, true}) {
    const Ended ended = in_child([store](Device& device) {
      Buffer<float> x(device, 64), y(device, 64);
      device.watch({x.range("x"), y.range("y")});
      const int off_x = store ? 0 : 1, off_y = store ? 2 : 0;
      (void)launch(device, 0, "copy_vector", copy_vector, {{1}, {1}}, x.data() + off_x,
                   y.data() + off_y);
      (void)device.synchronize();
    });
    expect_fault(ended, SIGSEGV, kFaultOfAlignment);
    EXPECT_STREQ(ended.box.fault.buffer, store ? "y" : "x");
    EXPECT_EQ(ended.box.fault.access,
              static_cast<std::uint32_t>(store ? Access::write : Access::read));
    EXPECT_EQ(ended.box.fault.side, static_cast<std::uint32_t>(Side::inside));
  }
}

__global__ void past_shared(int at) {
  dynamic_shared<volatile int>()[at] = 1;
}

TEST(Fault, DynamicSharedMemoryEndsAtAHole) {
  for (int ints : {64, 0}) {
    const Ended ended = in_child([ints](Device& device) {
      Buffer<int> x(device, 10);
      device.watch({x.range("x")});
      const auto bytes = static_cast<std::size_t>(ints) * 4;
      if (ints > 0) (void)launch(device, 0, "inside", past_shared, {{1}, {1}, bytes}, ints - 1);
      (void)device.synchronize();
      (void)launch(device, 0, "past_shared", past_shared, {{1}, {1}, bytes}, ints);
      (void)device.synchronize();
    });
    expect_fault(ended, SIGSEGV);
    EXPECT_STREQ(ended.box.fault.buffer, "shared");
    EXPECT_EQ(ended.box.fault.side, static_cast<std::uint32_t>(Side::after));
    EXPECT_STREQ(ended.box.kernel, "past_shared");
  }
}

__global__ void failing_assert(int n) {
  assert(n > 0);
}
__global__ void trapping() {
  __trap();
}
// Planted, as above.
__attribute__((no_sanitize("undefined"))) __global__ void divide(int* out, int by) {
  *out = 1000 / by;
}
// Each call needs a stack frame of its own.
__device__ int __attribute__((noinline)) descend(volatile int* p, int depth) {
  volatile int frame[64];
  frame[0] = depth;
  return depth == 0 ? *p : descend(p, depth - 1) + frame[0];
}
__global__ void deep(int* out) {
  *out = descend(out, 1 << 30);
}

TEST(Fault, OtherSignalsOfAKernel) {
  struct Case {
    std::function<void(Device&, int*)> body;
    int signal;
    const char* buffer;
  };
  const Case cases[] = {
      {[](Device& d, int*) {
         (void)launch(d, 0, "k", failing_assert, {{1}, {1}}, 0);
       },
       SIGABRT, ""},
      {[](Device& d, int*) {
         (void)launch(d, 0, "k", trapping, {{1}, {1}});
       },
       SIGILL, ""},
      {[](Device& d, int* p) {
         (void)launch(d, 0, "k", divide, {{1}, {1}}, p, 0);
       },
       SIGFPE, ""},
      {[](Device& d, int* p) {
         (void)launch(d, 0, "k", deep, {{1}, {1}}, p);
       },
       SIGSEGV, "stack"},
  };
  for (const Case& c : cases) {
    const Ended ended = in_child([&](Device& device) {
      Buffer<int> x(device, 10);
      device.watch({x.range("x")});
      c.body(device, x.data());
      (void)device.synchronize();
    });
    expect_fault(ended, c.signal);
    EXPECT_STREQ(ended.box.kernel, "k");
    EXPECT_STREQ(ended.box.fault.buffer, c.buffer);
  }
}

// Without a limit, the main thread's stack would take all memory before it ends.
class StackLimit {
 public:
  StackLimit() {
    ::getrlimit(RLIMIT_STACK, &before_);
    rlimit limit = before_;
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, rlim_t{8} << 20);
    ::setrlimit(RLIMIT_STACK, &limit);
  }
  ~StackLimit() { ::setrlimit(RLIMIT_STACK, &before_); }
  StackLimit(const StackLimit&) = delete;
  StackLimit& operator=(const StackLimit&) = delete;

 private:
  rlimit before_ = {};
};

// As trial::CallerThread.
void in_thread(Device& device, const std::function<void()>& code) {
  std::thread([&] {
    static std::array<std::byte, 64 * 1024> memory;
    stack_t stack = {};
    stack.ss_sp = memory.data();
    stack.ss_size = memory.size();
    ::sigaltstack(&stack, nullptr);
    device.attach_thread();
    code();
  }).join();
}

// The first access of the frame is far below the end of the stack.
void __attribute__((noinline)) large_frame() {
  std::byte frame[24 << 20];
  *static_cast<volatile std::byte*>(frame) = std::byte{1};
}

TEST(Fault, HostCodeThatNeedsMoreStackThanThereIsOverflowsIt) {
  volatile int zero = 0;
  const StackLimit limit;
  const auto recursion = [&zero] { zero = descend(&zero, 1 << 30); };
  for (const std::function<void()>& code : {std::function<void()>(recursion), {large_frame}})
    for (const bool own_thread : {false, true}) {
      const Ended ended = in_child([&](Device& device) {
        if (own_thread) return in_thread(device, code);
        code();
      });
      expect_fault(ended, SIGSEGV, kFaultOfSignal | kFaultOfHostCode);
      EXPECT_STREQ(ended.box.fault.buffer, "stack") << own_thread;
      EXPECT_EQ(ended.box.fault.side, static_cast<std::uint32_t>(Side::unknown)) << own_thread;
    }
}

TEST(Fault, HostCodeOfATargetIsRecordedWithoutAKernel) {
  const Ended ended = in_child([](Device& device) {
    Buffer<int> x(device, 10);
    device.watch({x.range("x")});
    static_cast<volatile int*>(x.data())[10] = 1;
  });
  expect_fault(ended, SIGSEGV, kFaultOfSignal | kFaultOfHostCode);
  EXPECT_STREQ(ended.box.kernel, "");
  EXPECT_STREQ(ended.box.fault.buffer, "x");
}

TEST(Fault, ASignalThatTheProcessSendsItselfIsItsOwn) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    const Ended own = in_child([&](Device&) { ::kill(::getpid(), signal); });
    expect_fault(own, signal, kFaultOfSignal | kFaultOfHostCode);
    const Ended others = in_child([&](Device&) {
      const pid_t self = ::getpid();
      if (::fork() == 0) {
        ::kill(self, signal);
        ::_exit(0);
      }
      ::sleep(60);
    });
    EXPECT_TRUE(WIFSIGNALED(others.status) && WTERMSIG(others.status) == signal) << signal;
    EXPECT_EQ(others.box.fault.valid, 0u) << signal;
    // As a terminal sends it, or the kernel to a session that has lost its terminal.
    const Ended kernels = in_child([&](Device&) {
      siginfo_t info = {};
      info.si_signo = signal;
      info.si_code = SI_KERNEL;
      ::syscall(SYS_rt_sigqueueinfo, ::getpid(), signal, &info);
    });
    EXPECT_TRUE(WIFSIGNALED(kernels.status) && WTERMSIG(kernels.status) == signal) << signal;
    EXPECT_EQ(kernels.box.fault.valid, 0u) << signal;
    const Ended handled = in_child([&](Device& device) {
      ::signal(signal, [](int) {});
      ::kill(::getpid(), signal);
      (void)device.synchronize();
    });
    EXPECT_TRUE(WIFEXITED(handled.status) && WEXITSTATUS(handled.status) == 0) << signal;
  }
}

TEST(Fault, AChildOfATargetEndsByItsOwnSignalAndRecordsNothing) {
  for (const int signal : {SIGTERM, SIGHUP, SIGABRT, SIGSEGV}) {
    const Ended ended = in_child([&](Device&) {
      const pid_t child = ::fork();
      if (child == 0) {
        if (signal == SIGSEGV)
          *static_cast<volatile int*>(nullptr) = 1;
        else
          ::kill(::getpid(), signal);
        ::_exit(0);
      }
      int status = 0;
      ::waitpid(child, &status, 0);
      if (!WIFSIGNALED(status) || WTERMSIG(status) != signal) ::_exit(1);
    });
    EXPECT_TRUE(WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 0) << signal;
    EXPECT_EQ(ended.box.fault.valid, 0u) << signal;
  }
}

std::byte* g_closed_page = nullptr;
void open_page(int, siginfo_t* info, void*) {
  if (info->si_addr != g_closed_page || mprotect(g_closed_page, 1, PROT_READ | PROT_WRITE) != 0)
    ::_exit(1);
}

// As a child of a target with a collector of garbage, which handles faults of its own.
TEST(Fault, AChildsOwnHandlerGetsTheAddress) {
  EXPECT_EXIT(
      {
        g_closed_page = static_cast<std::byte*>(
            mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        struct sigaction action = {};
        action.sa_sigaction = &open_page;
        action.sa_flags = SA_SIGINFO;
        sigaction(SIGSEGV, &action, nullptr);
        const auto device = host_device();
        const pid_t child = ::fork();
        if (child == 0) {
          *static_cast<volatile std::byte*>(g_closed_page) = std::byte{1};
          ::_exit(42);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 2);
      },
      ::testing::ExitedWithCode(42), "");
}

// A device that a child has for itself is its own; the outer one records its process alone.
TEST(Fault, ADeviceOfAChildLeavesTheOutersRecordAlone) {
  const Ended ended = in_child([](Device&) {
    const pid_t child = ::fork();
    if (child == 0) {
      { auto own = host_device(); }
      *static_cast<volatile int*>(nullptr) = 1;
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (!WIFSIGNALED(status)) ::_exit(1);
  });
  EXPECT_TRUE(WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 0);
  EXPECT_EQ(ended.box.fault.valid, 0u);
}

TEST(Fault, AHandlerThatIsSetLaterStays) {
  auto device = host_device();
  const auto earlier = ::signal(SIGHUP, SIG_IGN);
  device.reset();
  EXPECT_EQ(::signal(SIGHUP, SIG_DFL), SIG_IGN);
  EXPECT_NE(earlier, SIG_ERR);
}

TEST(Fault, AnInnerDeviceLeavesTheOuterInCharge) {
  const Ended ended = in_child([](Device& device) {
    { auto inner = host_device(); }
    Buffer<int> x(device, 10);
    device.watch({x.range("x")});
    static_cast<volatile int*>(x.data())[10] = 1;
  });
  expect_fault(ended, SIGSEGV, kFaultOfSignal | kFaultOfHostCode);
  EXPECT_STREQ(ended.box.fault.buffer, "x");
}

TEST(Fault, WithoutABlackBoxOneLineIsPrinted) {
  EXPECT_EXIT(
      {
        auto device = host_device();
        Buffer<int> x(*device, 10);
        device->watch({x.range("x")});
        (void)launch(*device, 0, "write_at", write_at, {{3}, {32}}, x.data(), 12);
        (void)device->synchronize();
      },
      ::testing::ExitedWithCode(kFaultExit),
      "SIGSEGV: write 9 bytes after x in write_at block \\(2,0,0\\) thread \\(3,0,0\\)");
}

}  // namespace
}  // namespace redzone::device
