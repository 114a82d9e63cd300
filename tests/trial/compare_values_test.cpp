// Comparison of whole arrays, checked against the error of each element.
#include "trial/compare_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace redzone::trial {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

ReferenceObservation one_by_one(std::span<const double> got, std::span<const double> want,
                                const Tolerance& tolerance) {
  ReferenceObservation o;
  o.tensor = "y";
  o.numel = got.size();
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double error = relative_error(got[i], want[i], tolerance);
    o.worst = std::max(o.worst, error);
    if (!(error <= 1) && o.mismatches++ == 0) {
      o.first_index = i;
      o.got = got[i];
      o.want = want[i];
    }
  }
  return o;
}

// Compares NaN as equal to NaN.
void expect_same(const ReferenceObservation& a, const ReferenceObservation& b) {
  EXPECT_EQ(a.tensor, b.tensor);
  EXPECT_EQ(a.numel, b.numel);
  EXPECT_EQ(a.mismatches, b.mismatches);
  EXPECT_EQ(a.first_index, b.first_index);
  EXPECT_EQ(std::isnan(a.got), std::isnan(b.got));
  EXPECT_EQ(std::isnan(a.want), std::isnan(b.want));
  if (!std::isnan(a.got)) {
    EXPECT_EQ(a.got, b.got);
  }
  if (!std::isnan(a.want)) {
    EXPECT_EQ(a.want, b.want);
  }
  EXPECT_EQ(a.worst, b.worst);
}

struct Odd {
  double got, want;
};
// Values whose match or mismatch the formula for ordinary elements cannot decide.
const Odd kOdd[] = {{kNan, kNan},
                    {kNan, 1},
                    {1, kNan},
                    {kInfinity, kInfinity},
                    {1, kInfinity},
                    {kInfinity, 1},
                    {-kInfinity, kInfinity},
                    {0, 0},
                    {-0.0, 0},
                    {1e308, -1e308},
                    {1.5, 1},
                    {1.01, 1},
                    {1 + 0x1p-52, 1},
                    {0, 1e-320}};
const Tolerance kTolerances[] = {{0.01, 0.02}, {0.1, 0}, {0, 0.03}, {0, 0}, {0, 1e300}};

TEST(CompareValues, AsOneByOneWhereverAnOddElementStands) {
  for (const std::size_t n : {1u, 7u, 255u, 256u, 257u, 600u}) {
    std::vector<double> want(n), got(n);
    for (std::size_t i = 0; i < n; ++i) {
      want[i] = std::sin(static_cast<double>(i));
      got[i] = want[i] * (1 + 1e-4 * static_cast<double>(i % 13));
    }
    for (const Tolerance& tolerance : kTolerances) {
      expect_same(compare_values("y", got, want, tolerance), one_by_one(got, want, tolerance));
      for (const Odd& odd : kOdd)
        for (const std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
          const double before[] = {got[at], want[at]};
          got[at] = odd.got;
          want[at] = odd.want;
          SCOPED_TRACE(::testing::Message()
                       << odd.got << " for " << odd.want << " at " << at << " of " << n << ", "
                       << tolerance.abs << " + " << tolerance.rel);
          expect_same(compare_values("y", got, want, tolerance), one_by_one(got, want, tolerance));
          got[at] = before[0];
          want[at] = before[1];
        }
    }
  }
}

TEST(CompareValues, SeesTheOneThatIsWrongAmongMany) {
  std::vector<double> want(1000, 1.0), got = want;
  for (std::size_t i = 0; i < want.size(); ++i) {
    got[i] = 1.03;
    const ReferenceObservation o = compare_values("y", got, want, {0.01, 0.01});
    ASSERT_EQ(o.mismatches, 1u);
    ASSERT_EQ(o.first_index, i);
    ASSERT_EQ(o.got, 1.03);
    ASSERT_EQ(o.want, 1.0);
    ASSERT_NEAR(o.worst, 1.5, 1e-9);
    got[i] = 1.0;
  }
}

// 1000 + 0i with an error of 1 in each part: 1/1000 of the number, and all of the imaginary part.
TEST(CompareComplexValues, ThePartsMayErrByTheSizeOfTheNumber) {
  const std::vector<double> want = {3, 4, 1000, 0, 0, 1000};
  const std::vector<double> got = {3, 4, 1001, 1, 1, 1001};
  EXPECT_EQ(compare_complex_values("y", got, want, {0, 2e-3}).mismatches, 0u);
  const ReferenceObservation o = compare_complex_values("y", got, want, {0, 5e-4});
  EXPECT_EQ(o.numel, 6u);
  EXPECT_EQ(o.mismatches, 4u);
  EXPECT_EQ(o.first_index, 2u);
  EXPECT_EQ(o.got, 1001);
  EXPECT_EQ(o.want, 1000);
  EXPECT_NEAR(o.worst, 2, 1e-9);
}

// An infinite part does not make any value of the other one right.
TEST(CompareComplexValues, AValueBesideAPartThatIsNotFiniteStandsAlone) {
  for (const double odd : {kNan, kInfinity, -kInfinity}) {
    const std::vector<double> want = {odd, 1, 1, odd};
    EXPECT_EQ(compare_complex_values("y", want, want, {0, 0.1}).mismatches, 0u) << odd;
    const std::vector<double> got = {odd, 2, 2, odd};
    EXPECT_EQ(compare_complex_values("y", got, want, {0, 0.1}).mismatches, 2u) << odd;
    const std::vector<double> finite = {1, 1, 1, 1};
    EXPECT_EQ(compare_complex_values("y", finite, want, {0, 0.1}).mismatches, 2u) << odd;
  }
}

TEST(CompareValues, NothingMatchesNothing) {
  const ReferenceObservation o = compare_values("y", {}, {}, {0, 0});
  EXPECT_EQ(o.numel, 0u);
  EXPECT_EQ(o.mismatches, 0u);
  EXPECT_EQ(o.worst, 0);
}

}  // namespace
}  // namespace redzone::trial
