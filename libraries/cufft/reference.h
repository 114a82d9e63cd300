// The discrete Fourier transform in float64, for references: X[k] = sum over j of x[j] exp(sign 2
// pi i j k / n), not normalized.
#pragma once

#include <complex>
#include <vector>

namespace redzone::libraries::cufft {

using Signal = std::vector<std::complex<double>>;

// Transforms a signal of any length in O(n log n), with Bluestein's algorithm if the length is not
// a power of two. `sign` is -1 (forward) or 1.
Signal transform(const Signal& x, int sign);

}  // namespace redzone::libraries::cufft
