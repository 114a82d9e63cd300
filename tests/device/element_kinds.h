// Every type that a job's elements may have and every fill, for tests that go through all of them.
#pragma once

#include <iterator>

#include "device/buffer_math.h"

namespace redzone::device {

inline constexpr DType kTypes[] = {DType::f32, DType::f64,     DType::f16,   DType::bf16,
                                   DType::i8,  DType::u8,      DType::i32,   DType::u32,
                                   DType::i64, DType::boolean, DType::i16,   DType::u16,
                                   DType::u64, DType::f8e4m3,  DType::f8e5m2};
static_assert(std::size(kTypes) == static_cast<std::size_t>(DType::c64), "all but the complex");

inline constexpr FillKind kFills[] = {FillKind::uniform,  FillKind::integers, FillKind::offsets,
                                      FillKind::constant, FillKind::poison,   FillKind::sparse,
                                      FillKind::special};
static_assert(std::size(kFills) == static_cast<std::size_t>(FillKind::special) + 1);

}  // namespace redzone::device
