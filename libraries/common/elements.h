// Converts elements of outputs to the numbers that references compute with: double, or a complex of
// doubles.
#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <type_traits>

namespace redzone::libraries {

// Omits the handling of infinities in complex products of the standard library.
template <class V>
V times(const V& a, const V& b) {
  if constexpr (std::is_same_v<V, double>)
    return a * b;
  else
    return V(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
}

template <class V>
V conjugate(const V& v) {
  if constexpr (std::is_same_v<V, double>)
    return v;
  else
    return std::conj(v);
}

// Element `i` of `values` as V.
template <class V>
V element(std::span<const double> values, std::size_t i) {
  if constexpr (std::is_same_v<V, double>)
    return values[i];
  else
    return V(values[2 * i], values[2 * i + 1]);
}
template <class V>
void set_element(std::span<double> values, std::size_t i, const V& value) {
  if constexpr (std::is_same_v<V, double>) {
    values[i] = value;
  } else {
    values[2 * i] = value.real();
    values[2 * i + 1] = value.imag();
  }
}

}  // namespace redzone::libraries
