// The positions of a sparse matrix's elements, as a function of the dims, so that a kernel can
// write the index arrays and the reference can compute with them. Rows are empty, short or full. In
// a row the columns ascend and each occurs once, as "Compressed Sparse Row (CSR)" of the
// documentation assumes.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define REDZONE_BOTH __host__ __device__
#else
#define REDZONE_BOTH
#endif

namespace redzone::libraries::cusparse {

struct Pattern {
  std::int64_t rows = 0, columns = 0;
  std::int64_t longest = 0;  // maximum number of elements in a row, at most `columns`

  static constexpr std::int64_t kPeriod = 8;

  // Number of elements in row r.
  REDZONE_BOTH std::int64_t length(std::int64_t r) const {
    switch (r % kPeriod) {
      case 0:
      case 6:
        return 0;
      case 2:
        return longest < 1 ? longest : 1;
      case 3:
        return longest / 2;
      case 5:
        return longest < 3 ? longest : 3;
      default:
        return longest;
    }
  }
  // Number of elements in the rows before r, for r in 0 .. rows.
  REDZONE_BOTH std::int64_t offset(std::int64_t r) const {
    std::int64_t of_period = 0, rest = 0;
    for (std::int64_t i = 0; i < kPeriod; ++i) {
      of_period += length(i);
      if (i < r % kPeriod) rest += length(i);
    }
    return r / kPeriod * of_period + rest;
  }
  std::int64_t elements() const { return offset(rows); }
  // The column of element k of row r.
  REDZONE_BOTH std::int64_t column(std::int64_t r, std::int64_t k) const {
    const std::int64_t apart = columns / length(r);
    return k * apart + r % apart;
  }
};

}  // namespace redzone::libraries::cusparse

#undef REDZONE_BOTH
