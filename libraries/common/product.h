// The product of two matrices for references, and tensors as matrices for column-major routines.
#pragma once

#include <redzone/target.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/elements.h"
#include "common/input_rows.h"

namespace redzone::libraries {

// Returns column row % N of op(A_b) op(B_b) for b = row / N, with the tensors A {batch, M, K} and B
// {batch, K, N} and the dims M, N and K.
template <class V>
std::vector<V> product_column(InputRows& in, std::int64_t row) {
  const std::int64_t m = in.dim("M"), n = in.dim("N"), terms = in.dim("K");
  const std::int64_t batch = row / n, j = row % n;
  InputTensor a = in.tensor("A"), b = in.tensor("B");
  std::vector<V> column, sums;
  column.reserve(static_cast<std::size_t>(terms));
  sums.reserve(static_cast<std::size_t>(m));
  for (std::int64_t k = 0; k < terms; ++k) column.push_back(b.at<V>(batch * terms + k, j));
  for (std::int64_t i = 0; i < m; ++i) {
    V sum(0);
    if (terms > 0) {
      const V* const of_a = a.row_of<V>(batch * m + i);
      for (std::size_t k = 0; k < column.size(); ++k) sum += times<V>(of_a[k], column[k]);
    }
    sums.push_back(sum);
  }
  return sums;
}

// The last two dims of a tensor as a column-major matrix. If `transposed`, the tensor's matrix is
// its transpose.
struct ColumnMajor {
  void* base = nullptr;
  bool transposed = false;
  std::int64_t ld = 1;
};

inline ColumnMajor column_major(const TensorArg& t) {
  const std::size_t rows = t.shape.size() - 2, columns = t.shape.size() - 1;
  if (t.strides[rows] == 1 && t.strides[columns] >= std::max<std::int64_t>(t.shape[rows], 1))
    return {t.base, false, t.strides[columns]};
  return {t.base, true, t.strides[rows]};
}

}  // namespace redzone::libraries
