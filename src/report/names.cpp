#include "report/names.h"

namespace redzone::report {

std::vector<std::string_view> layouts_of(const LayoutRules& rules) {
  std::vector<std::string_view> names{"contiguous"};
  if (rules.row_padding) names.emplace_back("row padding");
  if (rules.transposed) names.emplace_back("transposed");
  if (rules.offset) names.emplace_back("offset");
  if (rules.unit_strides) names.emplace_back("unit strides");
  if (rules.heads_first) names.emplace_back("HND");
  if (rules.slice) names.emplace_back("slice");
  if (rules.broadcast) names.emplace_back("broadcast");
  if (rules.reversed) names.emplace_back("reversed");
  return names;
}

}  // namespace redzone::report
