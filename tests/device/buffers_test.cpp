// Fill and check against the element-by-element definition in buffer_math.h.
#include "device/host/buffers.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <vector>

#include "device/buffer_math.h"
#include "tests/device/element_kinds.h"

namespace redzone::device {
namespace {

// A buffer with canaries around it, built on a plain vector.
struct Arrangement {
  std::vector<std::byte> storage;
  BufferJob job = {};

  Arrangement(DType type, FillKind fill, std::vector<std::int64_t> size,
              std::vector<std::int64_t> stride, std::uint64_t gap_end_bytes = kWholeGaps) {
    const std::size_t before = 37, after = 41;
    std::int64_t span = 1;
    for (std::size_t k = 0; k < size.size(); ++k) span += (size[k] - 1) * stride[k];
    job.numel = 1;
    for (std::int64_t s : size) job.numel *= s;
    if (job.numel == 0) span = 0;
    const std::size_t bytes = static_cast<std::size_t>(span) * dtype_bytes(type);
    storage.resize(before + bytes + after + 16);
    job.before = storage.data();
    job.before_bytes = before;
    job.data = storage.data() + before;
    job.after = storage.data() + before + bytes;
    job.after_bytes = after;
    job.rank = static_cast<std::uint32_t>(size.size());
    std::copy(size.begin(), size.end(), job.size);
    std::copy(stride.begin(), stride.end(), job.stride);
    job.dtype = static_cast<std::uint8_t>(type);
    job.fill = fill;
    job.lo = -1;
    job.hi = 1;
    job.first = -3;
    job.last = fill == FillKind::offsets ? 100 : 9;
    job.seed = 77;
    job.poison = 0xdeadbeef;
    job.canary = canary_for(job.poison);
    job.gap_end_bytes = gap_end_bytes;
  }

  std::size_t element_bytes() const { return dtype_bytes(static_cast<DType>(job.dtype)); }
  // The element with memory-order index `index`, by the formula of run_offset().
  std::byte* element(std::int64_t index) {
    const std::int64_t length = job.size[job.rank - 1];
    const std::int64_t offset = run_offset(job, index / length) + index % length;
    return static_cast<std::byte*>(job.data) + offset * static_cast<std::int64_t>(element_bytes());
  }
  std::uint64_t bits(std::int64_t index) {
    std::uint64_t u = 0;
    std::memcpy(&u, element(index), element_bytes());
    return u;
  }
  std::uint64_t expected_bits(std::int64_t index) {
    const std::size_t bytes = element_bytes();
    const std::uint64_t mask = bytes == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * bytes) - 1;
    return fill_bits(job, index) & mask;
  }
};

struct Form {
  std::vector<std::int64_t> size, stride;
};
const Form kForms[] = {
    {{1}, {1}},
    {{19}, {1}},
    {{0}, {1}},
    {{3, 5}, {8, 1}},
    {{2, 3, 4}, {40, 7, 1}},
    {{2, 2, 2, 3}, {100, 40, 5, 1}},
    {{4, 1}, {3, 1}},
};

TEST(Buffers, FillWritesTheDefinedBitsAndLeavesTheRestAlone) {
  for (DType type : kTypes)
    for (FillKind fill : kFills)
      for (const Form& form : kForms) {
        Arrangement a(type, fill, form.size, form.stride);
        const std::vector<std::byte> canvas(a.storage.size(), std::byte{0x5a});
        a.storage.assign(canvas.begin(), canvas.end());
        fill_buffer(a.job);
        for (std::int64_t i = 0; i < a.job.numel; ++i)
          ASSERT_EQ(a.bits(i), a.expected_bits(i)) << "element " << i;
        EXPECT_EQ(a.storage.back(), std::byte{0x5a}) << "beyond the window after the buffer";

        a.job.verify_unchanged = true;
        const BufferCheck check = check_buffer(a.job);
        EXPECT_EQ(check.changed, 0u);
        EXPECT_EQ(check.dirty_before + check.dirty_after + check.dirty_gaps, 0u);
        EXPECT_EQ(check.first_dirty_byte, std::numeric_limits<std::int64_t>::max());
        ElementDigest digest(a.element_bytes());
        for (std::int64_t i = 0; i < a.job.numel; ++i) digest.add(a.bits(i));
        EXPECT_EQ(check.digest, digest.value());
        a.job.verify_unchanged = false;
        EXPECT_EQ(check_buffer(a.job).digest, digest.value());
      }
}

TEST(Buffers, TheDigestDoesNotDependOnTheLayout) {
  Arrangement dense(DType::f32, FillKind::uniform, {3, 5}, {5, 1});
  Arrangement padded(DType::f32, FillKind::uniform, {3, 5}, {9, 1});
  fill_buffer(dense.job);
  fill_buffer(padded.job);
  EXPECT_EQ(check_buffer(dense.job).digest, check_buffer(padded.job).digest);
  std::swap_ranges(dense.element(0), dense.element(0) + 4, dense.element(1));
  EXPECT_NE(check_buffer(dense.job).digest, check_buffer(padded.job).digest);
}

TEST(Buffers, EveryChangedByteIsSeenWhereItIs) {
  Arrangement a(DType::f32, FillKind::uniform, {3, 5}, {9, 1});
  a.job.verify_unchanged = true;
  fill_buffer(a.job);
  const std::byte* const data = static_cast<const std::byte*>(a.job.data);
  for (std::size_t i = 0; i + 16 < a.storage.size(); ++i) {
    a.storage[i] ^= std::byte{1};
    const BufferCheck check = check_buffer(a.job);
    const std::int64_t at = &a.storage[i] - data;
    const bool before = at < 0, after = at >= 23 * 4;
    const bool gap = !before && !after && at % 36 >= 20;
    EXPECT_EQ(check.dirty_before, before ? 1u : 0u) << at;
    EXPECT_EQ(check.dirty_after, after ? 1u : 0u) << at;
    EXPECT_EQ(check.dirty_gaps, gap ? 1u : 0u) << at;
    EXPECT_EQ(check.changed, before || after || gap ? 0u : 1u) << at;
    if (before || after || gap) {
      EXPECT_EQ(check.first_dirty_byte, at);
    }
    a.storage[i] ^= std::byte{1};
  }
}

// Row padding and a slice at once: gaps of two lengths.
TEST(Buffers, GapsOfEveryDimAreWatched) {
  Arrangement a(DType::u8, FillKind::constant, {2, 3, 4}, {40, 7, 1});
  fill_buffer(a.job);
  std::byte* const data = static_cast<std::byte*>(a.job.data);
  std::vector<bool> is_element(40 + 2 * 7 + 4);
  for (std::int64_t i = 0; i < a.job.numel; ++i)
    is_element[static_cast<std::size_t>(a.element(i) - data)] = true;
  for (std::size_t i = 0; i < is_element.size(); ++i) {
    if (is_element[i]) continue;
    data[i] ^= std::byte{1};
    EXPECT_EQ(check_buffer(a.job).dirty_gaps, 1u) << i;
    data[i] ^= std::byte{1};
  }
}

TEST(Buffers, OfALongGapBothEndsAreWatchedWhereThatIsAskedFor) {
  Arrangement a(DType::u8, FillKind::constant, {2, 4}, {100, 1}, 8);
  const std::vector<std::byte> canvas(a.storage.size(), std::byte{0x5a});
  a.storage.assign(canvas.begin(), canvas.end());
  fill_buffer(a.job);
  std::byte* const data = static_cast<std::byte*>(a.job.data);
  for (std::size_t i = 4; i < 100; ++i) {
    const bool watched = i < 4 + 8 || i >= 100 - 8;
    if (!watched) {
      EXPECT_EQ(data[i], std::byte{0x5a}) << i;
    }
    data[i] ^= std::byte{1};
    EXPECT_EQ(check_buffer(a.job).dirty_gaps, watched ? 1u : 0u) << i;
    data[i] ^= std::byte{1};
  }
}

}  // namespace
}  // namespace redzone::device
