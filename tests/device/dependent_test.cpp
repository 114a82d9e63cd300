// Dependent launches: how far the host device lets them overlap, and what waits for what.
#include <gtest/gtest.h>
#include <redzone/kernel.h>

#include <csignal>
#include <functional>
#include <set>

#include "tests/device/in_child.h"
#include "tests/device/on_device.h"

namespace redzone::device {
namespace {

using namespace testing;

constexpr std::uint64_t kManySeeds = 96;
constexpr int kBlocks = 3, kThreads = 64, kItems = kBlocks * kThreads;

enum Trigger { never, at_once, at_the_end };

template <Trigger kTrigger>
__global__ void produce(const int* x, int* staged) {
  __shared__ int tile[kThreads];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (kTrigger == at_once) trigger_dependents();
  tile[threadIdx.x] = x[i];
  __syncthreads();
  staged[i] = 1 + tile[blockDim.x - 1 - threadIdx.x];
  if (kTrigger == at_the_end) trigger_dependents();
}

// Of another shape: a block of 32 threads, and shared memory of its own.
template <bool kWaits, Trigger kTrigger = never>
__global__ void consume(const int* staged, int* y) {
  __shared__ int tile[32];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (kTrigger == at_once) trigger_dependents();
  if (kWaits) wait_for_producer();
  tile[threadIdx.x] = staged[i];
  __syncthreads();
  y[i] = 10 * tile[blockDim.x - 1 - threadIdx.x];
}

LaunchShape consumer(bool dependent = true) {
  LaunchShape shape{{kItems / 32}, {32}};
  shape.dependent = dependent;
  return shape;
}

// The buffers of a producer and two consumers, all zero.
struct Chain {
  explicit Chain(Device& device)
      : x(device, kItems), staged(device, kItems), y(device, kItems), z(device, kItems) {
    for (int i = 0; i < kItems; ++i) x.data()[i] = i;
    for (const auto* b : {&staged, &y, &z}) zero(device, *b);
  }
  // How many elements were made of zeros instead of the results of the producer.
  static int stale(Device& device, const Buffer<int>& of) {
    int count = 0;
    for (const int v : read(device, of)) count += v == 0 ? 1 : 0;
    return count;
  }

  Buffer<int> x, staged, y, z;
};

using Body = std::function<void(Device&, Chain&)>;

// In how many of the seeds 1 .. kManySeeds - 1 elements of y are stale; seed 0 must show none.
int stale_trials(const Body& enqueue) {
  int stale = 0;
  for (std::uint64_t seed = 0; seed < kManySeeds; ++seed) {
    auto device = host_device(seed);
    Chain chain(*device);
    enqueue(*device, chain);
    EXPECT_TRUE(device->synchronize());
    EXPECT_EQ(Chain::stale(*device, chain.staged), 0);
    const int now = Chain::stale(*device, chain.y);
    if (seed == 0) {
      EXPECT_EQ(now, 0);
    }
    stale += now > 0 ? 1 : 0;
  }
  return stale;
}

Body produce_and_consume(void (*producer)(const int*, int*), void (*kernel)(const int*, int*),
                         const LaunchShape& shape) {
  return [=](Device& device, Chain& c) {
    EXPECT_TRUE(launch(device, 0, "produce", producer, {{kBlocks}, {kThreads}}, c.x.data(),
                       c.staged.data()));
    EXPECT_TRUE(launch(device, 0, "consume", kernel, shape, c.staged.data(), c.y.data()));
  };
}

TEST(Dependent, SeedsShowAMissingWait) {
  EXPECT_GT(stale_trials(produce_and_consume(produce<at_once>, consume<false>, consumer())),
            static_cast<int>(kManySeeds / 3));
}

// The first thread that triggers does so for its block, and others have not written yet.
TEST(Dependent, SeedsShowAMissingWaitBehindALateTrigger) {
  EXPECT_GT(stale_trials(produce_and_consume(produce<at_the_end>, consume<false>, consumer())), 0);
}

TEST(Dependent, AWaitSeesAllOfTheProducer) {
  for (const auto producer : {produce<never>, produce<at_once>, produce<at_the_end>})
    EXPECT_EQ(stale_trials(produce_and_consume(producer, consume<true>, consumer())), 0);
}

TEST(Dependent, WithoutATriggerItStartsBehindTheProducer) {
  EXPECT_EQ(stale_trials(produce_and_consume(produce<never>, consume<false>, consumer())), 0);
}

TEST(Dependent, OtherLaunchesDoNotOverlap) {
  EXPECT_EQ(stale_trials(produce_and_consume(produce<at_once>, consume<false>, consumer(false))),
            0);
}

TEST(Dependent, ACopyBetweenKeepsThemApart) {
  EXPECT_EQ(stale_trials([](Device& device, Chain& c) {
              EXPECT_TRUE(launch(device, 0, "produce", produce<at_once>, {{kBlocks}, {kThreads}},
                                 c.x.data(), c.staged.data()));
              EXPECT_TRUE(device.copy(0, c.z.data(), c.staged.data(), 4));
              EXPECT_TRUE(launch(device, 0, "consume", consume<false>, consumer(), c.staged.data(),
                                 c.y.data()));
            }),
            0);
}

TEST(Dependent, AGraphRunsThemInOrder) {
  EXPECT_EQ(stale_trials([](Device& device, Chain& c) {
              EXPECT_TRUE(device.begin_capture(0));
              produce_and_consume(produce<at_once>, consume<false>, consumer())(device, c);
              const auto graph = device.end_capture(0);
              ASSERT_TRUE(graph);
              EXPECT_TRUE(device.launch_graph(0, *graph));
            }),
            0);
}

// The second triggers before it waits, so the third may start before the first has ended.
Body chain_of_three(void (*third)(const int*, int*)) {
  return [=](Device& device, Chain& c) {
    EXPECT_TRUE(launch(device, 0, "produce", produce<at_once>, {{kBlocks}, {kThreads}}, c.x.data(),
                       c.staged.data()));
    EXPECT_TRUE(launch(device, 0, "consume", consume<true, at_once>, consumer(), c.staged.data(),
                       c.z.data()));
    EXPECT_TRUE(launch(device, 0, "third", third, consumer(), c.z.data(), c.y.data()));
  };
}

TEST(Dependent, AChainOverlapsAsAWhole) {
  EXPECT_EQ(stale_trials(chain_of_three(consume<true>)), 0);
  EXPECT_GT(stale_trials(chain_of_three(consume<false>)), static_cast<int>(kManySeeds / 4));
}

__global__ void alone(int* y) {
  trigger_dependents();
  wait_for_producer();
  y[threadIdx.x] = 1;
}

TEST(Dependent, WithoutOthersNothingWaits) {
  for (std::uint64_t seed = 0; seed < kManySeeds; ++seed) {
    auto device = host_device(seed);
    Buffer<int> y(*device, 32);
    LaunchShape shape{{1}, {32}};
    shape.dependent = true;
    zero(*device, y);
    ASSERT_TRUE(launch(*device, 0, "alone", alone, shape, y.data()));
    ASSERT_TRUE(device->synchronize());
    EXPECT_EQ(read(*device, y), std::vector<int>(32, 1)) << seed;
  }
}

// More threads than there are stacks, all of which wait for a producer that needs its own.
__global__ void count_behind(const int* staged, unsigned* seen) {
  wait_for_producer();
  if (staged[0] == 1 + kThreads - 1) atomicAdd(seen, 1u);
}

TEST(Dependent, DependentsThatTakeAllStacksEnd) {
  constexpr int kMany = 20, kWide = 1024;
  for (std::uint64_t seed = 1; seed < kManySeeds; seed += 8) {
    auto device = host_device(seed);
    Chain c(*device);
    Buffer<unsigned> seen(*device, 1);
    zero(*device, seen);
    LaunchShape shape{{kMany}, {kWide}};
    shape.dependent = true;
    ASSERT_TRUE(launch(*device, 0, "produce", produce<at_once>, {{kBlocks}, {kThreads}}, c.x.data(),
                       c.staged.data()));
    ASSERT_TRUE(launch(*device, 0, "count", count_behind, shape, c.staged.data(), seen.data()));
    ASSERT_TRUE(device->synchronize());
    EXPECT_EQ(*seen.data(), static_cast<unsigned>(kMany * kWide)) << seed;
  }
}

__global__ void store_behind(int* y, std::int64_t i) {
  y[i] = 1;
}

// The record names the kernel whose thread runs, and not the one that was set aside.
TEST(Dependent, AFaultIsThatOfTheRunningKernel) {
  const Ended ended = in_child([](Device& device) {
    for (std::uint64_t seed = 1; seed < kManySeeds; ++seed) {
      if (!device.begin_trial({Launch::async, seed, 1})) return;
      Chain c(device);
      device.watch({c.y.range("y")});
      device.set_call(0);
      (void)launch(device, 0, "produce", produce<at_once>, {{kBlocks}, {kThreads}}, c.x.data(),
                   c.staged.data());
      device.set_call(1);
      LaunchShape shape{{1}, {1}};
      shape.dependent = true;
      (void)launch(device, 0, "store_behind", store_behind, shape, c.y.data(), kItems);
      (void)device.synchronize();
    }
  });
  expect_fault(ended, SIGSEGV);
  EXPECT_STREQ(ended.box.kernel, "store_behind");
  EXPECT_EQ(ended.box.call_running, 1);
  EXPECT_STREQ(ended.box.fault.buffer, "y");
}

}  // namespace
}  // namespace redzone::device
