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

// An 8-bit float with `fraction` fraction bits and an exponent with this bias. `largest`: the bits
// of its largest finite number.
struct F8Format {
  std::uint32_t fraction, bias, largest;
};

// Round to nearest even. Values that are too large, infinities included, become the largest finite
// number, and NaN becomes 0x7f, as with __NV_SATFINITE of <cuda_fp8.h>, CUDA's default. (A cast in
// PyTorch 2.11 makes such values NaN in float8_e4m3fn and infinity in float8_e5m2; all other
// results are equal.)
RZ_HOST_DEVICE inline std::uint8_t float_to_f8(float f, F8Format to) {
  const std::uint32_t u = float_bits(f);
  const std::uint32_t sign = (u >> 24) & 0x80u;
  const std::uint32_t magnitude = u & 0x7fffffffu;
  const std::uint32_t shift = 23 - to.fraction, rebias = (127 - to.bias) << 23;
  if (magnitude > 0x7f800000u) return 0x7f;
  if (magnitude >= (to.largest << shift) + rebias)
    return static_cast<std::uint8_t>(sign | to.largest);
  if (magnitude < rebias + (1u << 23)) {  // subnormal or zero: as in float_to_f16()
    const float unit = bits_float((151 - to.bias - to.fraction) << 23);
    const float scaled = bits_float(magnitude) + unit;
    return static_cast<std::uint8_t>(sign | (float_bits(scaled) - float_bits(unit)));
  }
  const std::uint32_t half = (1u << (shift - 1)) - 1 + ((magnitude >> shift) & 1u);
  return static_cast<std::uint8_t>(sign | ((magnitude - rebias + half) >> shift));
}
RZ_HOST_DEVICE inline std::uint8_t float_to_f8e4m3(float f) {
  return float_to_f8(f, {3, 7, 0x7e});
}
RZ_HOST_DEVICE inline std::uint8_t float_to_f8e5m2(float f) {
  return float_to_f8(f, {2, 15, 0x7b});
}
// Branch-free, and without subnormal floats, like f16_to_float().
RZ_HOST_DEVICE inline float f8e4m3_to_float(std::uint8_t h) {
  const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x80u) << 24;
  const std::uint32_t magnitude = h & 0x7fu;
  const float normal = bits_float(magnitude << 20) * 1.329227995784915872903807060280344576e36f;
  const float subnormal = static_cast<float>(magnitude) * 1.953125e-3f;
  const float finite = magnitude < 8u ? subnormal : normal;
  return bits_float(sign | (magnitude == 0x7fu ? 0x7fc00000u : float_bits(finite)));
}
// An f8e5m2 is the upper byte of a half.
RZ_HOST_DEVICE inline float f8e5m2_to_float(std::uint8_t h) {
  return f16_to_float(static_cast<std::uint16_t>(h << 8));
}

// Rounds towards 0. The result is undefined for values beyond 64 bits.
template <class Real>
RZ_HOST_DEVICE std::uint64_t to_unsigned(Real value) {
  constexpr Real kHalf = 9223372036854775808.0f;  // 2^63: values from here on do not fit an int64_t
  if (value >= kHalf)
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value - kHalf)) + (1ull << 63);
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

// The bits of `value` as an element of real type `t` other than f64, in the low bytes. It avoids a
// conversion to double, which is slow on a GPU. Integers are cut to 64 bits and wrap.
RZ_HOST_DEVICE inline std::uint64_t encode_float(DType t, float value) {
  switch (t) {
    case DType::f32:
      return float_bits(value);
    case DType::f16:
      return float_to_f16(value);
    case DType::bf16:
      return float_to_bf16(value);
    case DType::f8e4m3:
      return float_to_f8e4m3(value);
    case DType::f8e5m2:
      return float_to_f8e5m2(value);
    case DType::boolean:
      return value != 0 ? 1 : 0;
    case DType::u64:
      return to_unsigned(value);
    default:
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  }
}
// Like encode_float(), for any real type.
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
    case DType::f8e4m3:
    case DType::f8e5m2:
      return encode_float(t, static_cast<float>(value));
    case DType::boolean:
      return value != 0 ? 1 : 0;
    case DType::u64:
      return to_unsigned(value);
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
    case DType::f8e4m3:
    case DType::f8e5m2:
    case DType::boolean:
      return encode_real(t, static_cast<double>(value));
    default:
      return static_cast<std::uint64_t>(value);
  }
}

// The element of real type at `p` as a double (integers beyond 2^53 are rounded). A bool is decoded
// as the number in its byte, so that an invalid byte equals neither 0 nor 1.
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
    case DType::boolean:
      return *static_cast<const std::uint8_t*>(p);
    case DType::f8e4m3:
      return f8e4m3_to_float(*static_cast<const std::uint8_t*>(p));
    case DType::f8e5m2:
      return f8e5m2_to_float(*static_cast<const std::uint8_t*>(p));
    case DType::i16: {
      std::int16_t v;
      memcpy(&v, p, sizeof v);
      return v;
    }
    case DType::u16: {
      std::uint16_t v;
      memcpy(&v, p, sizeof v);
      return v;
    }
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
    case DType::u64: {
      std::uint64_t v;
      memcpy(&v, p, sizeof v);
      return static_cast<double>(v);
    }
    case DType::c64:
    case DType::c128:
      break;
  }
  return 0;
}

}  // namespace redzone::device
