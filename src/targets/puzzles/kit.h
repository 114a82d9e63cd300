// Shared by all puzzles: names of a puzzle and its fixed variant, tensor declarations, 1-d grids.
//
// A puzzle is a class template over `bool kFixed`: `puzzle.<name>` is the instance with the bug,
// `twin.<name>` the one without. The first lines of its file are read by tests/puzzles/notes.h:
//
//   // puzzle: <name>                    (or `control:` for a correct target without a puzzle)
//   // bug: <one sentence>
//   // kin: <where this was seen in the world>
//   // expect: <kind>[ | <kind>...][ read|write][ before|after|inside|gap][ <buffer>]
//   // minimal: <n> call[s][, <way>]...; <dims and layouts of call 0>; <of call 1>...
//   // minimal: repros/<file>          (for what calls cannot express: knobs, streams, graphs)
//
// An expectation is followed by the smallest plan that shows it, or by several where none is
// simpler (what depends on history shows in either order). A puzzle that fails in two separate ways
// has two expectations; a control has `expect: nothing`. `|` stands between the kinds that one bug
// may show as, depending on the device. A way is a value of the mode that is not the plainest, such
// as `async`, `guard_before`, `exact` or `reused` (core/plan.h says what they mean).
#pragma once

#include <redzone/kernel.h>
#include <redzone/target.h>

#include <string>
#include <utility>
#include <vector>

namespace redzone::puzzles {

using Range = std::pair<std::int64_t, std::int64_t>;  // of Fill::integers, both ends included

inline constexpr std::int64_t kBlock = 64;  // default threads of a block

// The common beginning of the specs of a puzzle and its fixed variant.
template <bool kFixed>
TargetSpec pair_spec(const std::string& name, std::string doc) {
  TargetSpec s;
  s.name = (kFixed ? "twin." : "puzzle.") + name;
  s.doc = std::move(doc);
  s.category = kFixed ? Category::twin : Category::puzzle;
  s.has_reference = true;
  return s;
}

template <template <bool> class T>
void add_pair(Registrar& registrar) {
  registrar.add<T<false>>();
  registrar.add<T<true>>();
}

// Integers in [lo, hi], which sum without rounding.
inline Fill integers(std::int64_t lo, std::int64_t hi) {
  return Fill::integers([lo, hi](const Dims&) { return Range{lo, hi}; });
}

// As TensorSpec::of(), with a fill and layouts.
inline TensorSpec tensor(std::string name, DType dtype, Role role,
                         std::function<Shape(const Dims&)> shape, Fill fill = {},
                         LayoutRules layouts = {}) {
  auto t = TensorSpec::of(std::move(name), dtype, role, std::move(shape));
  t.layouts = layouts;
  t.fill = std::move(fill);
  return t;
}

__host__ __device__ constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

// At least one thread for each of `items` (> 0: a grid of 0 is not a launch).
inline LaunchShape one_thread_each(std::int64_t items, std::int64_t block = kBlock) {
  return {{ceil_div(items, block)}, {block}, 0};
}

__device__ inline std::int64_t global_thread() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

// A 2-d tensor argument of a kernel. Strides in elements.
template <class T>
struct Matrix {
  T* base;
  std::int64_t row, col;

  __device__ T& at(std::int64_t r, std::int64_t c) const { return base[r * row + c * col]; }
};

template <class T>
Matrix<T> matrix(const TensorArg& t) {
  return {t.data<T>(), t.strides[0], t.strides[1]};
}

}  // namespace redzone::puzzles
