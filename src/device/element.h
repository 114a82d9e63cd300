// Element types as bit patterns: conversions that give the same bits on the CPU and on the GPU.
#pragma once

#include <redzone/spec.h>

#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define RZ_HOST_DEVICE __host__ __device__
#else
#define RZ_HOST_DEVICE
#endif

namespace redzone::device {

RZ_HOST_DEVICE inline std::uint32_t float_bits(float f) {
  std::uint32_t u;
  memcpy(&u, &f, sizeof u);
  return u;
}
RZ_HOST_DEVICE inline float bits_float(std::uint32_t u) {
  float f;
  memcpy(&f, &u, sizeof f);
  return f;
}

// Round to nearest even; NaN stays NaN.
RZ_HOST_DEVICE inline std::uint16_t float_to_bf16(float f) {
  const std::uint32_t u = float_bits(f);
  if ((u & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((u >> 16) | 0x40u);
  return static_cast<std::uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
}
RZ_HOST_DEVICE inline float bf16_to_float(std::uint16_t h) {
  return bits_float(static_cast<std::uint32_t>(h) << 16);
}

// IEEE half, round to nearest even, subnormals and infinities included.
RZ_HOST_DEVICE inline std::uint16_t float_to_f16(float f) {
  const std::uint32_t u = float_bits(f);
  const std::uint32_t sign = (u >> 16) & 0x8000u;
  const std::uint32_t magnitude = u & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {  // subnormal or zero: scale so that the FPU rounds for us
    const float scaled = bits_float(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (float_bits(scaled) - 0x3f000000u));
  }
  const std::uint32_t rounded = magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<std::uint16_t>(sign | (rounded >> 13));
}
RZ_HOST_DEVICE inline float f16_to_float(std::uint16_t h) {
  const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000u) << 16;
  const std::uint32_t magnitude = h & 0x7fffu;
  // A normal half whose bits are read as a float is too small by 2^112; a subnormal half counts
  // units of 2^-24. Both products are exact, and neither is a subnormal float: a plugin linked with
  // -ffast-math makes the processor flush those to zero. Branch-free, so that the compiler
  // vectorizes the loops.
  const float normal = bits_float(magnitude << 13) * 5.192296858534827628530496329220096e33f;
  const float subnormal = static_cast<float>(magnitude) * 5.9604644775390625e-8f;
  const float finite = magnitude < 0x400u ? subnormal : normal;
  const std::uint32_t infinite = 0x7f800000u | ((magnitude & 0x3ffu) << 13);
  return bits_float(sign | (magnitude >= 0x7c00u ? infinite : float_bits(finite)));
}

// The bits of `value` as an element of type `t` other than f64, in the low bytes; without a
// conversion to double, which takes a GPU long. Integers are cut to 64 bits and wrap.
RZ_HOST_DEVICE inline std::uint64_t encode_float(DType t, float value) {
  switch (t) {
    case DType::f32:
      return float_bits(value);
    case DType::f16:
      return float_to_f16(value);
    case DType::bf16:
      return float_to_bf16(value);
    default:
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  }
}
// The same for any type.
RZ_HOST_DEVICE inline std::uint64_t encode_real(DType t, double value) {
  switch (t) {
    case DType::f64: {
      std::uint64_t u;
      memcpy(&u, &value, sizeof u);
      return u;
    }
    case DType::f32:
    case DType::f16:
    case DType::bf16:
      return encode_float(t, static_cast<float>(value));
    default:
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  }
}
RZ_HOST_DEVICE inline std::uint64_t encode_integer(DType t, std::int64_t value) {
  switch (t) {
    case DType::f64:
    case DType::f32:
    case DType::f16:
    case DType::bf16:
      return encode_real(t, static_cast<double>(value));
    default:
      return static_cast<std::uint64_t>(value);
  }
}

// The element at `p` as a double (i64 beyond 2^53 is rounded).
RZ_HOST_DEVICE inline double decode(DType t, const void* p) {
  switch (t) {
    case DType::f64: {
      double v;
      memcpy(&v, p, sizeof v);
      return v;
    }
    case DType::f32: {
      float v;
      memcpy(&v, p, sizeof v);
      return v;
    }
    case DType::f16:
    case DType::bf16: {
      std::uint16_t v;
      memcpy(&v, p, sizeof v);
      return t == DType::f16 ? f16_to_float(v) : bf16_to_float(v);
    }
    case DType::i8:
      return *static_cast<const std::int8_t*>(p);
    case DType::u8:
      return *static_cast<const std::uint8_t*>(p);
    case DType::i32: {
      std::int32_t v;
      memcpy(&v, p, sizeof v);
      return v;
    }
    case DType::u32: {
      std::uint32_t v;
      memcpy(&v, p, sizeof v);
      return v;
    }
    case DType::i64: {
      std::int64_t v;
      memcpy(&v, p, sizeof v);
      return static_cast<double>(v);
    }
  }
  return 0;
}

}  // namespace redzone::device
