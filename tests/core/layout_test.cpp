#include "core/layout.h"

#include <gtest/gtest.h>

namespace redzone {
namespace {

TEST(Layout, ContiguousIsRowMajor) {
  const auto v = make_view({2, 3, 4}, {});
  ASSERT_TRUE(v);
  EXPECT_EQ(v->strides, (Shape{12, 4, 1}));
  EXPECT_EQ(v->storage_elems, 24);
  EXPECT_EQ(v->memory_sizes, (Shape{2, 3, 4}));
}

TEST(Layout, PaddingWidensTheInnermostPitchOnly) {
  const auto v = make_view({2, 3, 4}, {.row_padding_elems = 2});
  ASSERT_TRUE(v);
  EXPECT_EQ(v->strides, (Shape{18, 6, 1}));
  EXPECT_EQ(v->storage_elems, 18 + 12 + 3 + 1);  // no padding after the last row
}

TEST(Layout, TransposedSwapsTheLastTwoInMemory) {
  const auto v =
      make_view({2, 3, 4}, {.row_padding_elems = 1, .transposed = true, .offset_elems = 5});
  ASSERT_TRUE(v);
  EXPECT_EQ(v->strides, (Shape{16, 1, 4}));
  EXPECT_EQ(v->memory_sizes, (Shape{2, 4, 3}));
  EXPECT_EQ(v->storage_elems, 5 + 16 + 2 + 12 + 1);
}

TEST(Layout, UnitStrideTouchesOnlyDimsOfSizeOne) {
  const auto v = make_view({1, 3, 1}, {.unit_stride = 1 << 20});
  ASSERT_TRUE(v);
  EXPECT_EQ(v->strides, (Shape{1 << 20, 1, 1 << 20}));
  EXPECT_EQ(v->storage_elems, 3);
}

TEST(Layout, PaddedColumnHasRunsOfOne) {
  const auto v = make_view({4, 1}, {.row_padding_elems = 3});
  ASSERT_TRUE(v);
  EXPECT_EQ(v->memory_sizes, (Shape{4, 1}));
  EXPECT_EQ(v->memory_strides, (Shape{4, 1}));
  EXPECT_EQ(v->storage_elems, 13);
}

TEST(Layout, EmptyAndScalar) {
  EXPECT_EQ(make_view({0, 4}, {})->storage_elems, 0);
  EXPECT_EQ(make_view({0, 4}, {})->numel, 0);
  EXPECT_EQ(make_view({}, {})->numel, 1);
  EXPECT_EQ(make_view({}, {})->storage_elems, 1);
}

TEST(Layout, OverflowIsAnError) {
  EXPECT_FALSE(make_view({4, std::int64_t{1} << 62}, {}));
  EXPECT_FALSE(make_view({4, 4}, {.row_padding_elems = INT64_MAX}));
}

}  // namespace
}  // namespace redzone
