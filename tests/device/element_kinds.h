// Every element type and every fill, for tests that go through all of them.
#pragma once

#include "device/buffer_math.h"

namespace redzone::device::testing {

inline constexpr DType kTypes[] = {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i8,
                                   DType::u8,  DType::i32, DType::u32, DType::i64};
inline constexpr FillKind kFills[] = {FillKind::uniform, FillKind::integers, FillKind::offsets,
                                      FillKind::constant, FillKind::poison};

}  // namespace redzone::device::testing
