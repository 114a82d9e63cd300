#include "core/layout.h"

#include <gtest/gtest.h>

#include <map>

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

TEST(Layout, HeadsFirstSwapsTokensAndHeadsInMemory) {
  const auto v = make_view({5, 2, 4}, {.hnd = true});
  ASSERT_TRUE(v);
  EXPECT_EQ(v->strides, (Shape{4, 20, 1}));
  EXPECT_EQ(v->memory_sizes, (Shape{2, 5, 4}));
  EXPECT_EQ(v->index_steps, (Shape{4, 20, 1}));
  EXPECT_EQ(v->storage_elems, 40);
}

TEST(Layout, ASliceWidensThePitchOfMatrices) {
  const auto v = make_view({3, 2, 4}, {.offset_elems = 8, .slice_elems = 16});
  ASSERT_TRUE(v);
  EXPECT_EQ(v->strides, (Shape{24, 4, 1}));
  EXPECT_EQ(v->memory_sizes, (Shape{3, 8})) << "a dense matrix is one run";
  EXPECT_EQ(v->memory_strides, (Shape{24, 1}));
  EXPECT_EQ(v->storage_elems, 8 + 2 * 24 + 8);
  EXPECT_EQ(make_view({3, 2, 4}, {.row_padding_elems = 4, .slice_elems = 16})->memory_sizes,
            (Shape{3, 2, 4}));
}

TEST(Layout, ABroadcastDimIsThereOnce) {
  const auto v = make_view({3, 2, 4}, {.broadcast_dim = 1});
  ASSERT_TRUE(v);
  EXPECT_EQ(v->strides, (Shape{4, 0, 1}));
  EXPECT_EQ(v->numel, 12);
  EXPECT_EQ(v->storage_elems, 12);
  EXPECT_EQ(v->index_steps, (Shape{4, 0, 1}));
}

TEST(Layout, AReversedDimBeginsAtItsEnd) {
  const auto v = make_view({3, 2, 4}, {.offset_elems = 5, .reversed_dim = 0});
  ASSERT_TRUE(v);
  EXPECT_EQ(v->strides, (Shape{-8, 4, 1}));
  EXPECT_EQ(v->origin_elems, 16);
  EXPECT_EQ(v->first_index, 16);
  EXPECT_EQ(v->storage_elems, 5 + 24);
  EXPECT_EQ(make_view({1, 2, 4}, {.reversed_dim = 0})->strides, (Shape{8, 4, 1}));
  EXPECT_EQ(make_view({0, 2, 4}, {.reversed_dim = 0})->origin_elems, 0);
}

// Every layout puts each element at its own place in the storage, except along broadcast dims, and
// gives the place of each in memory order.
TEST(Layout, ElementsLieWithinTheStorageAndApart) {
  const Shape shapes[] = {{3, 2, 4}, {1, 2, 4}, {3, 1, 1}, {2, 3, 1}, {2, 2, 3, 2}, {1, 1, 1}};
  for (const Shape& shape : shapes)
    for (int bits = 0; bits < 128; ++bits) {
      Layout l;
      if (bits & 1) l.row_padding_elems = 3;
      if (bits & 2) l.transposed = true;
      if (bits & 4) l.offset_elems = 2;
      if (bits & 8) l.hnd = true;
      if (bits & 16) l.slice_elems = 5;
      if (bits & 32) l.broadcast_dim = 0;
      if (bits & 64) l.reversed_dim = 1;
      const auto v = make_view(shape, l);
      ASSERT_TRUE(v);
      std::map<std::int64_t, std::int64_t> index_at;  // memory-order index by place
      Shape at(shape.size(), 0);
      for (bool more = true; more;) {
        std::int64_t place = v->offset_elems + v->origin_elems, index = v->first_index;
        for (std::size_t d = 0; d < shape.size(); ++d) {
          place += at[d] * v->strides[d];
          index += at[d] * v->index_steps[d];
        }
        ASSERT_GE(place, v->offset_elems);
        ASSERT_LT(place, v->storage_elems);
        ASSERT_EQ(index_at.emplace(place, index).first->second, index);
        std::size_t d = shape.size();
        while (d-- > 0 && ++at[d] == shape[d]) at[d] = 0;
        more = d < shape.size();
      }
      // Memory-order indices count the places in ascending order, without gaps.
      ASSERT_EQ(static_cast<std::int64_t>(index_at.size()), v->numel);
      std::int64_t next = 0;
      for (const auto& [place, index] : index_at) ASSERT_EQ(index, next++) << "layout " << bits;
      std::int64_t runs = 1;
      for (auto s : v->memory_sizes) runs *= s;
      EXPECT_EQ(runs, v->numel);
    }
}

TEST(Layout, RulesSayWhatIsAllowed) {
  const Shape shape{3, 2, 4};
  const LayoutRules all{true, true, true, true, true, true, true, true, 8};
  const auto none = LayoutRules::contiguous();
  const Layout layouts[] = {{.hnd = true},
                            {.slice_elems = 8},
                            {.broadcast_dim = 1},
                            {.reversed_dim = 0},
                            {.row_padding_elems = 16, .offset_elems = 8}};
  for (const Layout& l : layouts) {
    EXPECT_FALSE(layout_violation(shape, l, all));
    EXPECT_TRUE(layout_violation(shape, l, none));
  }
  EXPECT_TRUE(layout_violation(shape, {.row_padding_elems = 4}, all)) << "no multiple of 8";
  EXPECT_TRUE(layout_violation(shape, {.slice_elems = -8}, all));
  EXPECT_TRUE(layout_violation(shape, {.broadcast_dim = 2}, all)) << "the last dim";
  EXPECT_TRUE(layout_violation(shape, {.reversed_dim = -2}, all));
  EXPECT_TRUE(layout_violation(shape, {.broadcast_dim = 0, .reversed_dim = 0}, all));
  EXPECT_TRUE(layout_violation({3, 4}, {.hnd = true}, all));
  EXPECT_TRUE(layout_violation({3, 4}, {.slice_elems = 8}, all));
}

TEST(Layout, OverflowIsAnError) {
  EXPECT_FALSE(make_view({2, 2, 4}, {.slice_elems = INT64_MAX}));
  EXPECT_FALSE(make_view({4, std::int64_t{1} << 62}, {}));
  EXPECT_FALSE(make_view({4, 4}, {.row_padding_elems = INT64_MAX}));
  EXPECT_FALSE(make_view({4, 4}, {.offset_elems = INT64_MAX}));
}

}  // namespace
}  // namespace redzone
