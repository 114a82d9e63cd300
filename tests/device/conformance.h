// What every device must do, as functions of `Device&`; each begins its own trial. They contain no
// kernels and therefore apply to any device: the enqueued work is fills and checks.
#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "device/buffer_math.h"
#include "device/device.h"
#include "tests/device/element_kinds.h"
#include "tests/device/on_device.h"

namespace redzone::device::testing {

inline void begin(Device& device, Launch launch = Launch::async, int streams = 1) {
  const auto begun = device.begin_trial({launch, 0, streams});
  ASSERT_TRUE(begun.has_value()) << begun.error().detail;
}

// A padded 2-d tensor in the middle of a buffer, with canaries on both sides.
struct Padded {
  static constexpr std::int64_t kRows = 5, kColumns = 7, kPitch = 11;
  static constexpr std::int64_t kWindow = 48;  // bytes
  Buffer<std::byte> storage;
  BufferJob job = {};

  Padded(Device& device, DType type, FillKind fill)
      : storage(device, 2 * kWindow + span_bytes(type)) {
    job.data = storage.data() + kWindow;
    job.rank = 2;
    job.size[0] = kRows;
    job.size[1] = kColumns;
    job.stride[0] = kPitch;
    job.stride[1] = 1;
    job.numel = kRows * kColumns;
    job.dtype = static_cast<std::uint8_t>(type);
    job.fill = fill;
    job.lo = -2;
    job.hi = 3;
    job.first = -5;
    job.last = fill == FillKind::offsets ? 40 : 100;
    job.seed = 1234567;
    job.poison = 0xfff8c0de;
    job.canary = canary_for(job.poison);
    job.before = storage.data();
    job.before_bytes = kWindow;
    job.after = storage.data() + kWindow + span_bytes(type);
    job.after_bytes = kWindow;
    job.gap_end_bytes = kWholeGaps;
  }

  static std::int64_t span_bytes(DType type) {
    return ((kRows - 1) * kPitch + kColumns) * static_cast<std::int64_t>(dtype_bytes(type));
  }
  // Offset of element `index` in the storage.
  std::int64_t at(std::int64_t index) const {
    const auto bytes = static_cast<std::int64_t>(dtype_bytes(static_cast<DType>(job.dtype)));
    return kWindow + (run_offset(job, index / kColumns) + index % kColumns) * bytes;
  }
};

inline BufferCheck checked(Device& device, const BufferJob& job) {
  BufferCheck result = {};
  EXPECT_TRUE(device.check(0, {&job, 1}, &result).has_value());
  EXPECT_TRUE(device.synchronize().has_value());
  return result;
}

// Every element, canary and digest equals the definition in buffer_math.h, bit by bit.
inline void fills_are_as_defined(Device& device) {
  begin(device);
  for (DType type : kTypes)
    for (FillKind fill : kFills) {
      Padded p(device, type, fill);
      p.job.verify_unchanged = true;
      ASSERT_TRUE(device.fill(0, {&p.job, 1}).has_value());
      const BufferCheck check = checked(device, p.job);
      const auto bytes = read(device, p.storage);
      ElementDigest digest(dtype_bytes(type));
      for (std::int64_t i = 0; i < p.job.numel; ++i) {
        const std::uint64_t want = fill_bits(p.job, i);
        std::uint64_t got = 0;
        std::memcpy(&got, bytes.data() + p.at(i), dtype_bytes(type));
        ASSERT_EQ(std::memcmp(&got, &want, dtype_bytes(type)), 0)
            << "type " << int(type) << " fill " << int(fill) << " element " << i;
        digest.add(got);
      }
      for (std::int64_t i = 0; i < Padded::kWindow; ++i) {
        EXPECT_EQ(bytes[i], std::byte{canary_byte(p.job.canary, p.storage.data() + i)});
      }
      EXPECT_EQ(check.digest, digest.value());
      EXPECT_EQ(check.changed, 0u);
      EXPECT_EQ(check.dirty_before + check.dirty_after + check.dirty_gaps, 0u);
      EXPECT_EQ(check.first_dirty_byte, std::numeric_limits<std::int64_t>::max());
    }
}

// Counts single wrong bytes on each side, in a gap and in an element, and reports their places.
// Fills of overlapping buffers write the wrong bytes.
inline void wrong_bytes_are_found(Device& device) {
  begin(device);
  Padded p(device, DType::f32, FillKind::uniform);
  p.job.verify_unchanged = true;
  const auto spoil = [&](std::int64_t offset) {
    ASSERT_TRUE(device.fill(0, {&p.job, 1}).has_value());
    ASSERT_TRUE(device.synchronize().has_value());
    BufferJob byte = {};
    byte.data = static_cast<std::byte*>(p.job.data) + offset;
    byte.rank = 1;
    byte.size[0] = byte.numel = byte.stride[0] = 1;
    byte.dtype = static_cast<std::uint8_t>(DType::u8);
    byte.fill = FillKind::constant;
    const auto all = read(device, p.storage);
    byte.lo = static_cast<double>(all[Padded::kWindow + offset] ^ std::byte{0x11});
    ASSERT_TRUE(device.fill(0, {&byte, 1}).has_value());
  };
  const std::int64_t row = Padded::kColumns * 4, pitch = Padded::kPitch * 4;
  const std::int64_t end = Padded::span_bytes(DType::f32);
  struct Case {
    std::int64_t offset;
    std::uint64_t before, after, gaps, changed;
  };
  const Case cases[] = {{-1, 1, 0, 0, 0},  {-Padded::kWindow, 1, 0, 0, 0},
                        {end, 0, 1, 0, 0}, {end + Padded::kWindow - 1, 0, 1, 0, 0},
                        {row, 0, 0, 1, 0}, {3 * pitch - 1, 0, 0, 1, 0},
                        {0, 0, 0, 0, 1},   {end - 1, 0, 0, 0, 1}};
  for (const Case& c : cases) {
    spoil(c.offset);
    const BufferCheck check = checked(device, p.job);
    EXPECT_EQ(check.dirty_before, c.before) << c.offset;
    EXPECT_EQ(check.dirty_after, c.after) << c.offset;
    EXPECT_EQ(check.dirty_gaps, c.gaps) << c.offset;
    EXPECT_EQ(check.changed, c.changed) << c.offset;
    if (c.changed == 0) {
      EXPECT_EQ(check.first_dirty_byte, c.offset);
    }
  }
}

// A check sees exactly the fills before it, on its stream and on the streams that its stream waits
// for.
inline void streams_are_ordered(Device& device) {
  begin(device, Launch::async, 2);
  Buffer<std::uint32_t> x(device, 1000);
  BufferJob one = x.job(DType::u32), two = one;
  one.poison = 1;
  two.poison = 2;
  BufferCheck checks[3] = {};
  ASSERT_TRUE(device.fill(0, {&one, 1}).has_value());
  ASSERT_TRUE(device.check(0, {&one, 1}, &checks[0]).has_value());
  ASSERT_TRUE(device.wait(1, 0).has_value());
  ASSERT_TRUE(device.fill(1, {&two, 1}).has_value());
  ASSERT_TRUE(device.check(1, {&one, 1}, &checks[1]).has_value());
  ASSERT_TRUE(device.wait(0, 1).has_value());
  ASSERT_TRUE(device.fill(0, {&one, 1}).has_value());
  ASSERT_TRUE(device.check(0, {&one, 1}, &checks[2]).has_value());
  ASSERT_TRUE(device.synchronize().has_value());
  EXPECT_EQ(checks[0].digest, checks[2].digest);
  EXPECT_NE(checks[0].digest, checks[1].digest);
  EXPECT_EQ(read(device, x), std::vector<std::uint32_t>(1000, 1));
}

// Work enqueued while launches are blocked runs once, in order, after open() or synchronize().
inline void held_work_runs_when_opened(Device& device) {
  for (bool open : {true, false}) {
    begin(device, Launch::gated);
    Buffer<std::uint32_t> x(device, 10);
    BufferJob job = x.job(DType::u32);
    job.verify_unchanged = true;
    ASSERT_TRUE(device.fill(0, {&job, 1}).has_value());
    ASSERT_TRUE(device.synchronize().has_value());
    ASSERT_TRUE(device.hold().has_value());
    std::vector<BufferCheck> checks(20);
    for (std::uint32_t i = 0; i < checks.size(); ++i) {
      job.poison = i + 1;
      ASSERT_TRUE(device.fill(0, {&job, 1}).has_value());
      ASSERT_TRUE(device.check(0, {&job, 1}, &checks[i]).has_value());
    }
    if (open) {
      ASSERT_TRUE(device.open().has_value());
    }
    ASSERT_TRUE(device.synchronize().has_value());
    for (const BufferCheck& check : checks) {
      EXPECT_EQ(check.changed, 0u);
      EXPECT_NE(check.digest, 0u);
    }
    EXPECT_EQ(read(device, x), std::vector<std::uint32_t>(10, 20));
  }
}

// Of two fills that nothing else orders, the one behind the signal comes last: whether it is
// awaited before it is given or behind that, on the stream that is enqueued first or last.
inline void signals_force_either_order(Device& device) {
  begin(device);
  Buffer<std::uint32_t> warm(device, 1000);
  const BufferJob once = warm.job(DType::u32);
  ASSERT_TRUE(device.fill(0, {&once, 1}).has_value());
  ASSERT_TRUE(device.synchronize().has_value());
  for (int trial = 0; trial < 3; ++trial)
    for (const int first : {0, 1}) {
      begin(device, Launch::async, 2);
      Buffer<std::uint32_t> x(device, 1000);
      BufferJob jobs[] = {x.job(DType::u32), x.job(DType::u32)};
      jobs[0].poison = 1;
      jobs[1].poison = 2;
      for (const int stream : {0, 1}) {
        if (stream != first) {
          ASSERT_TRUE(device.await(stream, 0).has_value());
        }
        ASSERT_TRUE(device.fill(stream, {&jobs[stream], 1}).has_value());
        if (stream == first) {
          ASSERT_TRUE(device.give(stream, 0).has_value());
        }
      }
      ASSERT_TRUE(device.synchronize().has_value());
      EXPECT_TRUE(device.kept_signals());
      EXPECT_EQ(read(device, x), std::vector<std::uint32_t>(1000, first == 0 ? 2 : 1));
    }
}

// A stream goes on once the host gives the signal; one that nothing gives does not hold it forever,
// and is not kept.
inline void signals_of_the_host_and_of_nobody_end(Device& device) {
  for (const bool gives : {true, false, true}) {
    begin(device);
    Buffer<std::uint32_t> x(device, 10);
    BufferJob job = x.job(DType::u32);
    job.poison = 7;
    ASSERT_TRUE(device.await(0, 1).has_value());
    ASSERT_TRUE(device.fill(0, {&job, 1}).has_value());
    if (gives) device.give_now(1);
    ASSERT_TRUE(device.synchronize().has_value());
    EXPECT_EQ(device.kept_signals(), gives);
    EXPECT_EQ(read(device, x), std::vector<std::uint32_t>(10, 7));
  }
}

// Repeating a trial makes no mapping call.
inline void steady_state_maps_nothing(Device& device) {
  for (Allocator allocator : {Allocator::guard, Allocator::plain}) {
    Memory& memory = device.memory(allocator);
    std::uint64_t calls = 0;
    for (int trial = 0; trial < 3; ++trial) {
      begin(device);
      {
        Buffer<std::uint32_t> x(device, 10, Placement::guard_after, allocator);
        Buffer<std::uint32_t> y(device, 10, Placement::guard_after, allocator);
        Buffer<std::uint32_t> z(device, 3000000, Placement::guard_after, allocator);
        const BufferJob jobs[] = {x.job(DType::u32), y.job(DType::u32), z.job(DType::u32)};
        ASSERT_TRUE(device.fill(0, jobs).has_value());
        ASSERT_TRUE(device.synchronize().has_value());
      }
      if (trial == 0) calls = memory.mapping_calls();
    }
    EXPECT_GT(calls, 0u);
    EXPECT_EQ(memory.mapping_calls(), calls);
  }
}

inline void info_is_complete(Device& device) {
  const Info& info = device.info();
  EXPECT_FALSE(info.name.empty());
  EXPECT_GT(info.memory_bytes, 0u);
  EXPECT_GE(info.granularity_bytes, 4096u);
  EXPECT_EQ(info.granularity_bytes & (info.granularity_bytes - 1), 0u);
  EXPECT_EQ(info.limits.threads_per_block, 1024);
  auto region = device.memory(Allocator::guard).acquire(1);
  ASSERT_TRUE(region.has_value());
  EXPECT_EQ(region->bytes % info.granularity_bytes, 0u);
  device.memory(Allocator::guard).release(*region);
}

}  // namespace redzone::device::testing
