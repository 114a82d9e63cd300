// Compares numbers with the expected ones.
#pragma once

#include <redzone/spec.h>

#include <span>
#include <string>

#include "core/trial.h"

namespace redzone::trial {

// |got - want| / (abs + rel * |want|): at most 1 is a match. NaN matches NaN, an infinity itself.
double relative_error(double got, double want, const Tolerance& tolerance);
// The same for a part of a number with this absolute value, which takes the place of |want|.
double relative_error(double got, double want, double size, const Tolerance& tolerance);

// Both spans must have the same length.
ReferenceObservation compare_values(std::string tensor, std::span<const double> got,
                                    std::span<const double> want, const Tolerance& tolerance);

// The same for pairs of a real and an imaginary part. Each part is a value of its own, with a
// tolerance relative to the absolute value of its number: where parts cancel, the error of the
// small one is that of the large ones. Beside a part that is not finite a value stands alone.
ReferenceObservation compare_complex_values(std::string tensor, std::span<const double> got,
                                            std::span<const double> want,
                                            const Tolerance& tolerance);

}  // namespace redzone::trial
