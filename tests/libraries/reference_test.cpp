// References that need more than a loop, against the definition: the transform of cuFFT's targets,
// and where a sparse matrix has its elements.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <set>

#include "cufft/reference.h"
#include "cusparse/pattern.h"

namespace redzone::libraries {
namespace {

TEST(FourierReference, EqualsTheSumOfTheDefinition) {
  for (const std::size_t n : {1, 2, 3, 4, 5, 7, 8, 12, 31, 64, 97, 100, 128})
    for (const int sign : {-1, 1}) {
      cufft::Signal x;
      for (std::size_t j = 0; j < n; ++j)
        x.emplace_back(std::sin(static_cast<double>(3 * j + 1)), std::cos(static_cast<double>(j)));
      const auto y = cufft::transform(x, sign);
      ASSERT_EQ(y.size(), n);
      for (std::size_t k = 0; k < n; ++k) {
        std::complex<double> sum;
        for (std::size_t j = 0; j < n; ++j)
          sum += x[j] * std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(j * k) /
                                            static_cast<double>(n));
        EXPECT_LT(std::abs(y[k] - sum), 1e-10 * static_cast<double>(n)) << n << ", " << k;
      }
    }
}

TEST(SparsePattern, OffsetsAreTheSumsOfTheLengthsAndColumnsAscend) {
  for (const std::int64_t columns : {1, 2, 5, 64, 1000})
    for (const std::int64_t longest : {std::int64_t{0}, std::int64_t{1}, columns / 2, columns}) {
      const cusparse::Pattern p{37, columns, longest};
      std::int64_t before = 0;
      for (std::int64_t r = 0; r < p.rows; ++r) {
        EXPECT_EQ(p.offset(r), before);
        ASSERT_LE(p.length(r), columns);
        std::int64_t last = -1;
        for (std::int64_t k = 0; k < p.length(r); ++k) {
          ASSERT_GT(p.column(r, k), last);
          last = p.column(r, k);
        }
        EXPECT_LT(last, columns);
        before += p.length(r);
      }
      EXPECT_EQ(p.elements(), before);
    }
}

}  // namespace
}  // namespace redzone::libraries
