// Descriptors from which tests start.
#pragma once

#include "tma/descriptor.h"

namespace redzone::tma::testing {

// Legal: queries of 32 heads and 512 tokens with head dim 128, bf16, as (d, tokens, heads).
inline Descriptor attention() {
  Descriptor d;
  d.type = DataType::bf16;
  d.rank = 3;
  d.address = 0x7f4c49e08800;
  d.dims = {128, 512, 32, 1, 1};
  d.strides = {8192, 256, 0, 0};
  d.box = {64, 128, 1, 1, 1};
  d.swizzle = Swizzle::b128;
  d.promotion = Promotion::b128;
  return d;
}

// Legal: NHWC activations of a 3x3 convolution.
inline Descriptor convolution() {
  Descriptor d;
  d.kind = Kind::im2col;
  d.type = DataType::f16;
  d.rank = 4;
  d.address = 0x7f4c49e08800;
  d.dims = {64, 56, 56, 8, 1};
  d.strides = {128, 7168, 401408, 0};
  d.lower = {-1, -1, 0};
  d.upper = {-1, -1, 0};
  d.channels = 64;
  d.pixels = 128;
  d.swizzle = Swizzle::b128;
  return d;
}

}  // namespace redzone::tma::testing
