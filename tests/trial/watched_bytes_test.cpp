// Every byte of a buffer's storage is an element or is watched.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <functional>

#include "device/host/buffers.h"
#include "generators/internal/draw.h"
#include "generators/layouts.h"
#include "trial/bench.h"
#include "trial/tensor_buffer.h"

namespace redzone::testing {
namespace {

// One tensor as the runner describes and places it, in memory of its own.
struct Tensor {
  TensorSpec spec;
  Call call;
  trial::TensorBuffer buffer;
  std::vector<std::byte> memory;

  Tensor(Shape shape, Layout layout, DType dtype) {
    spec.name = "x";
    spec.dtype = dtype;
    spec.shape = [shape](const Dims&) { return shape; };
    call.layouts["x"] = layout;
    const Mode mode{.allocator = Allocator::guard};
    const auto described = trial::describe_tensor(spec, {}, call, mode, buffer);
    RC_ASSERT(described.has_value());
    constexpr std::size_t kAlign = 256;
    memory.resize(trial::region_bytes(buffer.storage) + 2 * kAlign);
    auto* base = memory.data();
    while (reinterpret_cast<std::uintptr_t>(base) % kAlign != 0) ++base;
    trial::place_tensor(buffer, {base, trial::region_bytes(buffer.storage)}, mode);
  }

  // Whether each byte of the storage belongs to an element, by the strides that the target sees.
  std::vector<bool> element_bytes() const {
    std::vector<bool> is_element(buffer.storage.bytes, false);
    const auto bytes = static_cast<std::int64_t>(dtype_bytes(buffer.dtype));
    const View& view = buffer.view;
    std::function<void(std::size_t, std::int64_t)> visit = [&](std::size_t d, std::int64_t at) {
      if (d == view.shape.size()) {
        for (std::int64_t b = 0; b < bytes; ++b)
          is_element[static_cast<std::size_t>((view.offset_elems + at) * bytes + b)] = true;
        return;
      }
      for (std::int64_t i = 0; i < view.shape[d]; ++i) visit(d + 1, at + i * view.strides[d]);
    };
    visit(0, view.origin_elems);
    return is_element;
  }

  std::uint64_t dirty() const {
    const device::BufferCheck check = device::check_buffer(buffer.job);
    return check.dirty_before + check.dirty_after + check.dirty_gaps;
  }
};

constexpr LayoutRules kAllLayouts{.row_padding = true,
                                  .transposed = true,
                                  .offset = true,
                                  .unit_strides = true,
                                  .heads_first = true,
                                  .slice = true,
                                  .broadcast = true,
                                  .reversed = true};

TEST(WatchedBytes, AWriteToAnyByteThatIsNoElementIsSeen) {
  rc::check([] {
    Shape shape;
    for (int rank = *rc::gen::inRange(1, 6); rank > 0; --rank)
      shape.push_back(*rc::gen::inRange<std::int64_t>(0, 6));
    if (*rc::gen::inRange(0, 4) == 0) shape.back() = 200;
    generators::Draw draw{rc::Random(*rc::gen::arbitrary<std::uint64_t>())};
    const Layout layout = generators::draw_layout(draw, shape, kAllLayouts);
    const auto dtype = *rc::gen::element(DType::u8, DType::bf16, DType::f32, DType::f64,
                                         DType::boolean, DType::c64, DType::c128);
    Tensor tensor(shape, layout, dtype);
    device::fill_buffer(tensor.buffer.job);
    RC_ASSERT(tensor.dirty() == 0u);
    const std::vector<bool> is_element = tensor.element_bytes();
    // Every byte of a small tensor. The time grows with the square of the size, so of a large one
    // only each n-th, and not the same in each case.
    const std::size_t step = is_element.size() / 4096 + 1;
    for (std::size_t i = *rc::gen::inRange<std::size_t>(0, step); i < is_element.size();
         i += step) {
      tensor.buffer.at.storage[i] ^= std::byte{1};
      RC_ASSERT(tensor.dirty() == (is_element[i] ? 0u : 1u));
      tensor.buffer.at.storage[i] ^= std::byte{1};
    }
  });
}

// Row padding and a slice at once leave gaps of two lengths, here 2 and 602 elements.
TEST(WatchedBytes, GapsOfBothLengthsAreWatchedToTheirEnds) {
  const Layout layout{.row_padding_elems = 2, .slice_elems = 600};
  Tensor tensor({2, 3, 4}, layout, DType::f32);
  device::fill_buffer(tensor.buffer.job);
  auto* elements = reinterpret_cast<std::uint32_t*>(tensor.buffer.at.data);
  const std::int64_t first_matrix = 3 * 6;
  for (const std::int64_t at : {4, 5, 16 + 0, 16 + 300, static_cast<int>(first_matrix) + 599}) {
    elements[at] = ~elements[at];
    EXPECT_GT(tensor.dirty(), 0u) << at;
    elements[at] = ~elements[at];
  }
}

// The CPU writes `bytes` bytes from offset `from` of 64 bytes of pinned memory; with `on_device`,
// kernels write the first and the last of them.
Observation write_host(std::int64_t from, std::size_t bytes, bool on_device) {
  Bench bench([=](Context& ctx) {
    auto* p = static_cast<unsigned char*>(ctx.pinned_memory("args", 64)) + from;
    for (std::size_t i = 0; i < bytes; ++i) {
      if (!on_device)
        p[i] = 0x11;
      else if (i == 0 || i + 1 == bytes)
        launch(ctx, "store", store_byte_kernel, {}, p + i, static_cast<unsigned char>(0x11));
    }
    run_double(ctx);
  });
  return bench.run({call_of(1, 1)});
}

TEST(HostMemory, IsGuardedOnBothSides) {
  for (const bool on_device : {false, true}) {
    const BufferObservation inside = buffer(write_host(0, 64, on_device), 0, "args");
    EXPECT_EQ(inside.dirty_before + inside.dirty_after, 0u);
    const BufferObservation after = buffer(write_host(0, 20'000, on_device), 0, "args");
    EXPECT_EQ(after.dirty_after, on_device ? 1u : 20'000u - 64u);
    EXPECT_EQ(after.first_dirty_byte, on_device ? 19'999 : 64);
    EXPECT_TRUE(after.scratch);
    const BufferObservation before = buffer(write_host(-1, 1, on_device), 0, "args");
    EXPECT_EQ(before.dirty_before, 1u);
    EXPECT_EQ(before.first_dirty_byte, -1);
  }
}

TEST(HostMemory, IsGuardedUnderEveryAllocator) {
  for (const auto allocator : {Allocator::plain, Allocator::caching}) {
    Bench bench([](Context& ctx) {
      static_cast<unsigned char*>(ctx.pinned_memory("args", 64))[64] = 1;
      run_double(ctx);
    });
    const Observation o = bench.run({call_of(1, 1)}, {.allocator = allocator});
    EXPECT_EQ(buffer(o, 0, "args").dirty_after, 1u);
  }
}

}  // namespace
}  // namespace redzone::testing
