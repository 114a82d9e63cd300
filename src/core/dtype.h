// Kinds of element types.
#pragma once

#include <redzone/spec.h>

namespace redzone {

// True for integer types; false for bool.
constexpr bool is_integer(DType type) {
  switch (type) {
    case DType::i8:
    case DType::u8:
    case DType::i16:
    case DType::u16:
    case DType::i32:
    case DType::u32:
    case DType::i64:
    case DType::u64:
      return true;
    default:
      return false;
  }
}

}  // namespace redzone
