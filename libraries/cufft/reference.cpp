#include "cufft/reference.h"

#include <cmath>
#include <cstddef>
#include <numbers>

namespace redzone::libraries::cufft {
namespace {

using Complex = std::complex<double>;

Complex root(int sign, double turns) {
  const double angle = sign * 2 * std::numbers::pi * turns;
  return {std::cos(angle), std::sin(angle)};
}

bool is_power_of_two(std::size_t n) {
  return (n & (n - 1)) == 0;
}

// Transforms in place; the length must be a power of two.
void transform_powers(Signal& x, int sign) {
  const std::size_t n = x.size();
  for (std::size_t i = 1, j = 0; i < n; ++i) {
    std::size_t bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  for (std::size_t length = 2; length <= n; length *= 2) {
    Signal roots;
    for (std::size_t k = 0; k < length / 2; ++k)
      roots.push_back(root(sign, static_cast<double>(k) / static_cast<double>(length)));
    for (std::size_t begin = 0; begin < n; begin += length)
      for (std::size_t k = 0; k < length / 2; ++k) {
        const Complex even = x[begin + k], odd = x[begin + k + length / 2] * roots[k];
        x[begin + k] = even + odd;
        x[begin + k + length / 2] = even - odd;
      }
  }
}

}  // namespace

Signal transform(const Signal& x, int sign) {
  Signal out = x;
  const std::size_t n = x.size();
  if (n <= 1) return out;
  if (is_power_of_two(n)) {
    transform_powers(out, sign);
    return out;
  }
  // Use j k = (j^2 + k^2 - (k - j)^2) / 2, which gives a convolution with a chirp.
  std::size_t padded = 1;
  while (padded < 2 * n - 1) padded *= 2;
  const auto chirp = [n, sign](std::size_t j, int direction) {
    const auto square = static_cast<double>(j * j % (2 * n));
    return root(sign * direction, square / static_cast<double>(2 * n));
  };
  Signal a(padded), b(padded);
  for (std::size_t j = 0; j < n; ++j) a[j] = x[j] * chirp(j, 1);
  b[0] = chirp(0, -1);
  for (std::size_t j = 1; j < n; ++j) b[j] = b[padded - j] = chirp(j, -1);
  transform_powers(a, -1);
  transform_powers(b, -1);
  for (std::size_t i = 0; i < padded; ++i) a[i] *= b[i];
  transform_powers(a, 1);
  for (std::size_t k = 0; k < n; ++k) out[k] = a[k] * chirp(k, 1) / static_cast<double>(padded);
  return out;
}

}  // namespace redzone::libraries::cufft
