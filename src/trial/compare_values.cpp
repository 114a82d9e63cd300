#include "trial/compare_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "core/error.h"

namespace redzone::trial {
namespace {

constexpr std::size_t kLanes = 8;
constexpr std::size_t kBlock = 32 * kLanes;

// The largest relative error of a block if all its elements are finite and match, else nullopt. The
// quotient of a finite match equals relative_error(). In all other cases the quotient is not at
// most 1: it is NaN if an operand is NaN or the tolerance is 0, or infinity.
std::optional<double> worst_of_matching(const double* got, const double* want,
                                        const Tolerance& tolerance) {
  double worst[kLanes] = {};
  bool all = true;
  for (std::size_t i = 0; i < kBlock; i += kLanes)
    for (std::size_t k = 0; k < kLanes; ++k) {
      const double allowed = tolerance.abs + tolerance.rel * std::abs(want[i + k]);
      const double error = std::abs(got[i + k] - want[i + k]) / allowed;
      all &= error <= 1;
      worst[k] = error > worst[k] ? error : worst[k];
    }
  if (!all) return std::nullopt;
  return *std::max_element(worst, worst + kLanes);
}

void add(ReferenceObservation& o, std::size_t index, double got, double want, double error) {
  o.worst = std::max(o.worst, error);
  if (error <= 1 || o.mismatches++ > 0) return;
  o.first_index = index;
  o.got = got;
  o.want = want;
}

}  // namespace

double relative_error(double got, double want, const Tolerance& tolerance) {
  return relative_error(got, want, std::abs(want), tolerance);
}

double relative_error(double got, double want, double size, const Tolerance& tolerance) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (std::isnan(want) && std::isnan(got)) return 0;
  if (std::isnan(want) || std::isnan(got)) return kInfinity;
  if (got == want) return 0;  // equal infinities too
  if (std::isinf(want) || std::isinf(got)) return kInfinity;
  const double allowed = tolerance.abs + tolerance.rel * size;
  return allowed > 0 ? std::abs(got - want) / allowed : kInfinity;
}

ReferenceObservation compare_values(std::string tensor, std::span<const double> got,
                                    std::span<const double> want, const Tolerance& tolerance) {
  RZ_CHECK(got.size() == want.size());
  ReferenceObservation o;
  o.tensor = std::move(tensor);
  o.numel = got.size();
  for (std::size_t begin = 0; begin < got.size();) {
    const std::size_t end = std::min(begin + kBlock, got.size());
    if (end - begin == kBlock)
      if (const auto worst = worst_of_matching(&got[begin], &want[begin], tolerance)) {
        o.worst = std::max(o.worst, *worst);
        begin = end;
        continue;
      }
    for (; begin < end; ++begin)
      add(o, begin, got[begin], want[begin], relative_error(got[begin], want[begin], tolerance));
  }
  return o;
}

ReferenceObservation compare_complex_values(std::string tensor, std::span<const double> got,
                                            std::span<const double> want,
                                            const Tolerance& tolerance) {
  RZ_CHECK(got.size() == want.size() && got.size() % 2 == 0);
  ReferenceObservation o;
  o.tensor = std::move(tensor);
  o.numel = got.size();
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double other = want[i ^ 1];
    const double size = std::isfinite(other) ? std::hypot(want[i], other) : std::abs(want[i]);
    add(o, i, got[i], want[i], relative_error(got[i], want[i], size, tolerance));
  }
  return o;
}

}  // namespace redzone::trial
