// Interprets tensors as matrices in the forms in which BLAS stores them, for references.
#pragma once

#include <cstdint>
#include <utility>

#include "common/elements.h"
#include "common/input_rows.h"

namespace redzone::libraries::cublas {

// full: column-major; band: diagonals as rows; packed: the columns of a triangle one after the
// other ("1.1. Data Layout", and the formulas of gbmv, sbmv and spmv).
enum class Storage : std::uint8_t { full, band, packed };
enum class Form : std::uint8_t { general, symmetric, hermitian, triangular };

struct MatrixRules {
  Form form = Form::general;
  Storage storage = Storage::full;
  bool lower = true;        // the stored triangle; unused for general matrices
  bool unit = false;        // the diagonal is assumed to be 1 and not read
  bool transposed = false;  // op(A) = A^T ..
  bool conjugated = false;  // .. or A^H
  std::int64_t n = 0;       // number of columns of a packed matrix
  std::int64_t below = 0;   // number of diagonals below and above the main one of a band matrix
  std::int64_t above = 0;
};

// op(A) of a column-major matrix A that is stored in the tensor {columns, rows}.
template <class V>
class StoredMatrix {
 public:
  StoredMatrix(InputTensor tensor, MatrixRules rules) : tensor_(std::move(tensor)), rules_(rules) {}

  V at(std::int64_t i, std::int64_t j) {
    if (rules_.transposed) std::swap(i, j);
    const V value = stored(i, j);
    return rules_.conjugated ? conjugate(value) : value;
  }

 private:
  V stored(std::int64_t i, std::int64_t j) {
    if (rules_.form == Form::general) return in_band(i, j) ? read(i, j) : V(0);
    const bool outside = rules_.lower ? i < j : i > j;
    if (rules_.form == Form::triangular) {
      if (i == j && rules_.unit) return V(1);
      return outside || !in_band(i, j) ? V(0) : read(i, j);
    }
    if (!in_band(i, j)) return V(0);
    if (rules_.form == Form::symmetric) return outside ? read(j, i) : read(i, j);
    // "The imaginary parts of the diagonal elements are assumed to be zero" (hemv, hemm).
    if (i == j) return V(std::real(read(i, j)));
    return outside ? conjugate(read(j, i)) : read(i, j);
  }

  bool in_band(std::int64_t i, std::int64_t j) const {
    if (rules_.storage != Storage::band) return true;
    return i - j <= rules_.below && j - i <= rules_.above;
  }

  V read(std::int64_t i, std::int64_t j) {
    switch (rules_.storage) {
      case Storage::full:
        return tensor_.at<V>(j, i);
      case Storage::band:
        return tensor_.at<V>(j, first_stored_diagonal() + i - j);
      case Storage::packed:
        break;
    }
    const std::int64_t column = rules_.lower ? (2 * rules_.n - j - 1) * j / 2 : j * (j + 1) / 2;
    return tensor_.at<V>(0, column + i);
  }

  // The row of the band that contains the main diagonal. For a symmetric or triangular matrix only
  // one side is stored.
  std::int64_t first_stored_diagonal() const {
    return rules_.form == Form::general || !rules_.lower ? rules_.above : 0;
  }

  InputTensor tensor_;
  MatrixRules rules_;
};

// A tensor {rows, columns} as a matrix, independent of its memory layout.
template <class V>
class PlainMatrix {
 public:
  explicit PlainMatrix(InputTensor tensor) : tensor_(std::move(tensor)) {}
  V at(std::int64_t i, std::int64_t j) { return tensor_.at<V>(i, j); }
  // All elements of row i; see InputTensor::row_of().
  const V* row(std::int64_t i) { return tensor_.row_of<V>(i); }

 private:
  InputTensor tensor_;
};

}  // namespace redzone::libraries::cublas
