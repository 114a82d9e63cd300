// Compares numbers with the expected ones.
#pragma once

#include <redzone/spec.h>

#include <span>
#include <string>

#include "core/trial.h"

namespace redzone::trial {

// |got - want| / (abs + rel * |want|): at most 1 is a match. NaN matches NaN, an infinity itself.
double relative_error(double got, double want, const Tolerance& tolerance);

// Both spans must have the same length.
ReferenceObservation compare_values(std::string tensor, std::span<const double> got,
                                    std::span<const double> want, const Tolerance& tolerance);

}  // namespace redzone::trial
