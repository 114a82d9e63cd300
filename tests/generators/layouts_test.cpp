// Guarantees for a kernel that allows a layout: the layout is drawn, and how often.
#include "generators/layouts.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>

#include "generators/internal/draw.h"

namespace redzone::generators {
namespace {

constexpr int kDraws = 3000;

LayoutRules everything(std::int64_t granule) {
  LayoutRules rules = LayoutRules::strided();
  rules.heads_first = rules.slice = rules.broadcast = rules.reversed = true;
  rules.granule_elems = granule;
  return rules;
}

Shape any_shape(std::size_t least_rank) {
  const auto rank = *rc::gen::inRange<std::size_t>(least_rank, 6);
  return *rc::gen::container<Shape>(rank, rc::gen::element<std::int64_t>(1, 2, 3, 8, 17, 128));
}

// [tokens, heads, head dim], as in attention.
Shape attention_shape() {
  return {*rc::gen::element<std::int64_t>(1, 2, 77), *rc::gen::element<std::int64_t>(8, 32),
          *rc::gen::element<std::int64_t>(64, 128)};
}

using Is = std::function<bool(const Layout&)>;

// Requires that, for any seed, at least `share` of the layouts of `shape` satisfy `is`.
void require(const char* what, double share, const Shape& shape, const LayoutRules& rules,
             const Is& is) {
  Draw draw{rc::Random(*rc::gen::arbitrary<std::uint64_t>())};
  int count = 0;
  for (int i = 0; i < kDraws; ++i) count += is(draw_layout(draw, shape, rules));
  RC_LOG() << what << ": " << count << " of " << kDraws << "\n";
  RC_ASSERT(count >= share * kDraws);
}

TEST(Layouts, OfAnyShapeAreAllowedAndHaveAView) {
  EXPECT_TRUE(rc::check("allowed", [] {
    const Shape shape = any_shape(0);
    const LayoutRules rules = everything(*rc::gen::element<std::int64_t>(1, 8));
    Draw draw{rc::Random(*rc::gen::arbitrary<std::uint64_t>())};
    for (int i = 0; i < 100; ++i) {
      const Layout layout = draw_layout(draw, shape, rules);
      RC_ASSERT(layout_violation(shape, layout, rules) == std::nullopt);
      RC_ASSERT(make_view(shape, layout).has_value());
    }
  }));
}

TEST(Layouts, AreEachAsOftenAsTheyAreWorth) {
  const std::pair<const char*, Is> kinds[] = {
      {"NHD", [](const Layout& l) { return !l.hnd; }},
      {"HND", [](const Layout& l) { return l.hnd; }},
      {"padded heads", [](const Layout& l) { return l.row_padding_elems > 0; }},
      {"sliced sequence with an offset", [](const Layout& l) { return l.offset_elems > 0; }},
      {"packed rows", [](const Layout& l) { return l.slice_elems > 0; }},
      {"the last of packed rows",
       [](const Layout& l) { return l.slice_elems > 0 && l.offset_elems == l.slice_elems; }},
      {"broadcast", [](const Layout& l) { return l.broadcast_dim >= 0; }},
      {"negative strides", [](const Layout& l) { return l.reversed_dim >= 0; }},
      {"transposed", [](const Layout& l) { return l.transposed; }}};
  const double shares[] = {0.4, 0.4, 0.4, 0.25, 0.25, 0.05, 0.1, 0.08, 0.25};
  static_assert(std::size(kinds) == std::size(shares));
  for (std::size_t k = 0; k < std::size(kinds); ++k)
    EXPECT_TRUE(rc::check(kinds[k].first, [&] {
      require(kinds[k].first, shares[k], attention_shape(),
              everything(*rc::gen::element<std::int64_t>(1, 8)), kinds[k].second);
    }));
}

// q, k and v packed in one tensor, with `group` query heads per key head.
TEST(Layouts, ArePitchesOfPackedQueriesKeysAndValues) {
  EXPECT_TRUE(rc::check("packed", [] {
    const std::int64_t heads = 8, dim = 128, group = *rc::gen::element<std::int64_t>(1, 4, 8);
    const std::int64_t row = heads * dim, q_row = group * row;
    const LayoutRules rules = everything(8);
    const auto at = [](std::int64_t beside, std::int64_t before) {
      return [=](const Layout& l) { return l.slice_elems == beside && l.offset_elems == before; };
    };
    const Shape kv{77, heads, dim}, q{77, group * heads, dim};
    require("q", 0.003, q, rules, at(2 * row, 0));
    require("k", 0.003, kv, rules, at(q_row + row, q_row));
    require("v", 0.003, kv, rules, at(q_row + row, q_row + row));
  }));
}

// For every dim of size 1, at any position, with any other dims.
TEST(Layouts, GiveDimsOfSizeOneEveryStrideThatNobodyMayUse) {
  EXPECT_TRUE(rc::check("unit strides", [] {
    Shape shape = any_shape(1);
    shape[*rc::gen::inRange<std::size_t>(0, shape.size())] = 1;
    std::int64_t size = 1;
    for (auto s : shape) size *= s;
    for (const std::int64_t stride :
         {std::int64_t{0}, std::int64_t{1}, size, std::int64_t{1} << 31, std::int64_t{1} << 40,
          std::int64_t{-1}, -size, std::int64_t{std::numeric_limits<std::int32_t>::min()}})
      require("unit stride", 0.03, shape, everything(1), [&](const Layout& layout) {
        const auto view = make_view(shape, layout);
        for (std::size_t d = 0; d < shape.size(); ++d)
          if (shape[d] == 1 && view->strides[d] != stride) return false;
        return layout.unit_stride.has_value();
      });
  }));
}

// Where the last row, or the last slice, begins: beside a boundary, and on both sides of it.
TEST(Layouts, BigOffsetsOfRowsAndOfSlicesEndOnBothSidesOfABoundary) {
  EXPECT_TRUE(rc::check("big offsets", [] {
    const Shape shape = {*rc::gen::element<std::int64_t>(2, 3, 7),
                         *rc::gen::element<std::int64_t>(2, 5),
                         *rc::gen::element<std::int64_t>(1, 64)};
    LayoutRules rules;
    rules.slice = true;
    rules.row_padding = *rc::gen::element(false, true);
    Draw draw{rc::Random(*rc::gen::arbitrary<std::uint64_t>())};
    constexpr double kBoundaries[] = {0x1p29, 0x1p30, 0x1p31, 0x1p32};  // in elements of f32
    int below = 0, beyond = 0, slices = 0;
    for (int i = 0; i < 300; ++i) {
      const auto layout = draw_big_offsets(draw, shape, {}, 4, rules);
      RC_ASSERT(layout.has_value());
      RC_ASSERT(layout_violation(shape, *layout, rules) == std::nullopt);
      const auto view = make_view(shape, *layout).value();
      const bool sliced = layout->slice_elems > 0;
      const auto last = static_cast<double>(sliced ? (shape[0] - 1) * view.strides[0]
                                                   : (shape[0] - 1) * view.strides[0] +
                                                         (shape[1] - 1) * view.strides[1]);
      // 64 beside each step, of which there are at most 34.
      RC_ASSERT(std::any_of(std::begin(kBoundaries), std::end(kBoundaries),
                            [last](double b) { return std::abs(last - b) <= 64 * 35; }));
      const bool is_below =
          std::any_of(std::begin(kBoundaries), std::end(kBoundaries),
                      [last](double b) { return b - last > 0 && b - last < 9e3; });
      ++(is_below ? below : beyond);
      slices += sliced;
    }
    RC_ASSERT(below >= 8);
    RC_ASSERT(beyond >= 150);
    RC_ASSERT(slices >= (rules.row_padding ? 90 : 300));
  }));
}

}  // namespace
}  // namespace redzone::generators
