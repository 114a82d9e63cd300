// Names of the enumerators of the target API (<redzone/spec.h>), which cannot include Redzone's own
// headers.
#pragma once

#include <redzone/spec.h>

#include "core/enum_names.h"

namespace redzone {

constexpr auto enum_table(Category) {
  return enum_names<Category>("category", {{Category::kernel, "kernel"},
                                           {Category::puzzle, "puzzle"},
                                           {Category::twin, "twin"},
                                           {Category::selftest, "selftest"}});
}
constexpr auto enum_table(Role) {
  return enum_names<Role>("role", {{Role::in, "in"}, {Role::out, "out"}, {Role::inout, "inout"}});
}
constexpr auto enum_table(DType) {
  return enum_names<DType>("type of elements", {{DType::f32, "f32"},
                                                {DType::f64, "f64"},
                                                {DType::f16, "f16"},
                                                {DType::bf16, "bf16"},
                                                {DType::i8, "i8"},
                                                {DType::u8, "u8"},
                                                {DType::i32, "i32"},
                                                {DType::u32, "u32"},
                                                {DType::i64, "i64"},
                                                {DType::boolean, "bool"},
                                                {DType::i16, "i16"},
                                                {DType::u16, "u16"},
                                                {DType::u64, "u64"},
                                                {DType::f8e4m3, "f8e4m3"},
                                                {DType::f8e5m2, "f8e5m2"},
                                                {DType::c64, "c64"},
                                                {DType::c128, "c128"}});
}

}  // namespace redzone
