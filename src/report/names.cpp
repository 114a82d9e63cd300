#include "report/names.h"

#include <array>

#include "core/names.h"

namespace redzone::report {
namespace {

constexpr std::array kCategories{
    std::pair{Category::kernel, "kernel"}, std::pair{Category::puzzle, "puzzle"},
    std::pair{Category::twin, "twin"}, std::pair{Category::selftest, "selftest"}};
constexpr std::array kRoles{std::pair{Role::in, "in"}, std::pair{Role::out, "out"},
                            std::pair{Role::inout, "inout"}};
constexpr std::array kDTypes{
    std::pair{DType::f32, "f32"},   std::pair{DType::f64, "f64"}, std::pair{DType::f16, "f16"},
    std::pair{DType::bf16, "bf16"}, std::pair{DType::i8, "i8"},   std::pair{DType::u8, "u8"},
    std::pair{DType::i32, "i32"},   std::pair{DType::u32, "u32"}, std::pair{DType::i64, "i64"}};

}  // namespace

std::string_view name_of(Category category) {
  return name_in(kCategories, category);
}
std::string_view name_of(Role role) {
  return name_in(kRoles, role);
}
std::string_view name_of(DType dtype) {
  return name_in(kDTypes, dtype);
}

std::vector<std::string_view> layouts_of(const LayoutRules& rules) {
  std::vector<std::string_view> names{"contiguous"};
  if (rules.row_padding) names.emplace_back("row padding");
  if (rules.transposed) names.emplace_back("transposed");
  if (rules.offset) names.emplace_back("offset");
  if (rules.unit_strides) names.emplace_back("unit strides");
  if (rules.heads_first) names.emplace_back("heads first");
  if (rules.slice) names.emplace_back("slice");
  if (rules.broadcast) names.emplace_back("broadcast");
  if (rules.reversed) names.emplace_back("reversed");
  return names;
}

}  // namespace redzone::report
