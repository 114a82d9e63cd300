// Parts of specs that are common to targets for libraries.
#pragma once

#include <redzone/spec.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace redzone::libraries {

// Sums of products of small positive integers are exact in every order, so an algorithm may add in
// any order. No factor is 0, so a missing or duplicate term changes the sum. All are positive, so
// that no sum is -0.
inline Fill exact(std::int64_t largest = 3) {
  return Fill::integers([largest](const Dims&) {
    return std::pair<std::int64_t, std::int64_t>{1, largest};
  });
}

inline DimSpec dim(std::string name, std::int64_t min, std::int64_t max, std::string doc,
                   std::int64_t tile = 64) {
  return DimSpec::of(std::move(name), min, max, std::move(doc), tile);
}

// Like TensorSpec::of(), with layouts and with data whose sums are exact.
inline TensorSpec tensor(std::string name, DType dtype, Role role,
                         std::function<Shape(const Dims&)> shape, LayoutRules layouts = {}) {
  auto t = TensorSpec::of(std::move(name), dtype, role, std::move(shape));
  t.layouts = layouts;
  t.fill = exact();
  return t;
}

// Layouts of a column-major matrix with a leading dimension. Its columns are the rows of the
// tensor, so the shape is {columns, rows}, and the leading dimension is strides[0].
inline LayoutRules leading_dimension() {
  LayoutRules rules;
  rules.row_padding = rules.offset = true;
  return rules;
}
// The same for a batch of matrices {batch, columns, rows}, plus the batch's stride.
inline LayoutRules strided_batch() {
  LayoutRules rules = leading_dimension();
  rules.slice = true;
  return rules;
}

inline KnobSpec letters(std::string name, const std::vector<std::string>& values, std::string doc) {
  KnobSpec knob;
  knob.name = std::move(name);
  knob.values.assign(values.begin(), values.end());
  knob.doc = std::move(doc);
  return knob;
}
inline KnobSpec numbers(std::string name, const std::vector<std::int64_t>& values,
                        std::string doc) {
  KnobSpec knob;
  knob.name = std::move(name);
  knob.values.assign(values.begin(), values.end());
  knob.doc = std::move(doc);
  return knob;
}

// Number of budget operations that one multiplication counts as. A plan takes the time of its
// reference, which computes a multiplication in a few nanoseconds, so the calls of a plan must be
// smaller than a GPU could handle.
inline constexpr double kProductWork = 8;

inline double as_double(std::int64_t n) {
  return static_cast<double>(n);
}

}  // namespace redzone::libraries
