// Common parts of the tables of cuBLAS routines: specs, knobs, references of products.
#pragma once

#include <redzone/target.h>

#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "common/product.h"
#include "common/routine.h"
#include "common/spec_parts.h"
#include "cublas/call.h"
#include "cublas/matrices.h"

namespace redzone::libraries::cublas {

// f32 sums stay exact up to this many terms of at most 3 * 3 * 3.
inline constexpr std::int64_t kMostTerms = 65536;

inline KnobSpec uplo() {
  return letters("uplo", {"L", "U"}, "the triangle that is stored");
}
inline KnobSpec diag() {
  return letters("diag", {"N", "U"}, "U: the diagonal is taken as 1");
}
inline KnobSpec side() {
  return letters("side", {"L", "R"}, "the side of the special matrix");
}
inline KnobSpec trans(const Type& type) {
  if (reals_per_element(type.dtype) == 1) return letters("trans", {"N", "T"}, "op(A)");
  return letters("trans", {"N", "T", "C"}, "op(A)");
}
inline KnobSpec alpha() {
  return numbers("alpha", {1, 2}, "factor of the product");
}
// With beta = 0 the output need not be valid before the call; the targets with Output::written test
// this, because their output is never read.
inline KnobSpec beta() {
  return numbers("beta", {1, 2}, "factor of the output's old values");
}
inline KnobSpec no_beta() {
  return numbers("beta", {0}, "the output is not read");
}

// Initial contents of an output: poison, with beta = 0, or values to which the routine adds.
enum class Output : std::uint8_t { written, added_to };
inline KnobSpec beta_of(Output output) {
  return output == Output::written ? no_beta() : beta();
}
inline Role role_of(Output output) {
  return output == Output::written ? Role::out : Role::inout;
}

// The target is named cublas.<routine>, with `.add` if the routine adds to its output.
inline TargetSpec spec_of(const std::string& routine, std::string doc, std::vector<KnobSpec> knobs,
                          Output output = Output::written) {
  TargetSpec spec;
  spec.name = "cublas." + routine + (output == Output::added_to ? ".add" : "");
  spec.doc = std::move(doc);
  spec.knobs = std::move(knobs);
  spec.knobs.push_back(numbers("api", {32, 64}, "integers of the entry point; 64: `_64`"));
  spec.tolerance = {0, 0};
  spec.has_reference = true;
  spec.sampled_rows = kSampledRows;
  return spec;
}
// The same for a routine whose name begins with the type letter.
inline TargetSpec spec_of(const Type& type, const std::string& routine, std::string doc,
                          std::vector<KnobSpec> knobs, Output output = Output::written) {
  const auto letter = static_cast<char>(std::tolower(static_cast<unsigned char>(type.letter)));
  return spec_of(letter + routine, std::move(doc), std::move(knobs), output);
}

// A vector {n, 1}: its increment is strides[0], which is at least 1.
inline TensorSpec vector(std::string name, DType dtype, Role role, std::string size) {
  return tensor(
      std::move(name), dtype, role,
      [size = std::move(size)](const Dims& d) {
        return Shape{get(d, size), 1};
      },
      leading_dimension());
}
// A column-major matrix.
inline TensorSpec matrix(std::string name, DType dtype, Role role, std::string rows,
                         std::string columns) {
  return tensor(
      std::move(name), dtype, role,
      [rows = std::move(rows), columns = std::move(columns)](const Dims& d) {
        return Shape{get(d, columns), get(d, rows)};
      },
      leading_dimension());
}
// A matrix {rows, columns} that is row-major or column-major; this determines the operation that is
// passed to the routine.
inline TensorSpec either_major(std::string name, DType dtype, std::string rows,
                               std::string columns) {
  LayoutRules rules = leading_dimension();
  rules.transposed = true;
  return tensor(
      std::move(name), dtype, Role::in,
      [rows = std::move(rows), columns = std::move(columns)](const Dims& d) {
        return Shape{get(d, rows), get(d, columns)};
      },
      rules);
}

// The rules of a matrix according to the knobs `uplo`, `diag` and `trans`, as far as the plan has
// them.
inline MatrixRules rules_of(const Config& config, Form form, Storage storage = Storage::full) {
  MatrixRules rules;
  rules.form = form;
  rules.storage = storage;
  const auto letter = [&config](const char* knob) {
    const auto at = config.find(knob);
    return at == config.end() ? std::string() : std::get<std::string>(at->second);
  };
  rules.lower = letter("uplo") != "U";
  rules.unit = letter("diag") == "U";
  rules.transposed = letter("trans") == "T" || letter("trans") == "C";
  rules.conjugated = letter("trans") == "C";
  return rules;
}

// The product of row i of `left` and column j of `right`, which has `terms` elements.
template <class V, class Left, class Right>
V dot(Left& left, std::int64_t i, Right& right, std::int64_t j, std::int64_t terms) {
  V sum(0);
  for (std::int64_t k = 0; k < terms; ++k) sum += times<V>(left.at(i, k), right.at(k, j));
  return sum;
}

// Column j of a matrix, read once and multiplied by many rows.
template <class V>
class ColumnOf {
 public:
  template <class M>
  ColumnOf(M& matrix, std::int64_t j, std::int64_t terms) {
    values_.reserve(static_cast<std::size_t>(terms));
    for (std::int64_t k = 0; k < terms; ++k) values_.push_back(matrix.at(k, j));
  }
  template <class M>
  V times_row(M& matrix, std::int64_t i) const {
    V sum(0);
    if constexpr (requires { matrix.row(i); }) {
      if (values_.empty()) return sum;
      const V* const row = matrix.row(i);
      for (std::size_t k = 0; k < values_.size(); ++k) sum += times<V>(row[k], values_[k]);
    } else {
      for (std::size_t k = 0; k < values_.size(); ++k)
        sum += times<V>(matrix.at(i, static_cast<std::int64_t>(k)), values_[k]);
    }
    return sum;
  }

 private:
  std::vector<V> values_;
};

// Swaps the indices of a matrix.
template <class V, class M>
class Transposed {
 public:
  explicit Transposed(M& matrix) : matrix_(matrix) {}
  V at(std::int64_t i, std::int64_t j) { return matrix_.at(j, i); }

 private:
  M& matrix_;
};

// Computes row `row` of C_b = alpha op(A_b) op(B_b) + beta C_b; see product_column().
template <class V>
void product_row(InputRows& in, std::string_view, std::int64_t row, std::span<double> values) {
  const std::vector<V> sums = product_column<V>(in, row);
  for (std::size_t i = 0; i < sums.size(); ++i)
    set_element<V>(
        values, i,
        as_double(in.knob("alpha")) * sums[i] + as_double(in.knob("beta")) * element<V>(values, i));
}

void add_level2(Registrar& registrar);
void add_level3(Registrar& registrar);
void add_batched(Registrar& registrar);
void add_mixed(Registrar& registrar);

// Explains why cuBLAS cannot be called; "" if it can.
inline std::string missing() {
  return library().problem();
}

// Calls f<V>(type) for each of the four types; V is double or a complex of doubles.
template <class F>
void for_all_types(F f) {
  f.template operator()<double>(Type{'S', DType::f32});
  f.template operator()<double>(Type{'D', DType::f64});
  f.template operator()<std::complex<double>>(Type{'C', DType::c64});
  f.template operator()<std::complex<double>>(Type{'Z', DType::c128});
}

}  // namespace redzone::libraries::cublas
