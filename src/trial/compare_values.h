// Compares output values with expected values.
#pragma once

#include <redzone/spec.h>

#include <span>
#include <string>

#include "core/trial.h"

namespace redzone::trial {

// |got - want| / (abs + rel * |want|): at most 1 is a match. NaN matches NaN, and an infinity
// matches itself.
double relative_error(double got, double want, const Tolerance& tolerance);
// As above, with `size` in place of |want|: for one part of a complex number, whose absolute value
// is `size`.
double relative_error(double got, double want, double size, const Tolerance& tolerance);

// Both spans must have the same length.
ReferenceObservation compare_values(std::string tensor, std::span<const double> got,
                                    std::span<const double> want, const Tolerance& tolerance);

// Compares pairs of a real and an imaginary part. Each part counts as one value, with a tolerance
// relative to the absolute value of the complex number, because with cancellation the small part
// has the error of the large terms. If the other part is not finite, the tolerance of a part is
// relative to that part alone.
ReferenceObservation compare_complex_values(std::string tensor, std::span<const double> got,
                                            std::span<const double> want,
                                            const Tolerance& tolerance);

}  // namespace redzone::trial
