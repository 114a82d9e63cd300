#include "report/tensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/spec_names.h"
#include "report/format.h"
#include "report/json_parts.h"

namespace redzone::report {

std::string tensors_text(std::span<const PlanTensor> tensors) {
  using enum Table::Align;
  Table table({{"call", right},
               {"tensor"},
               {"role"},
               {"type"},
               {"shape"},
               {"strides"},
               {"offset", right},
               {"bytes", right}});
  for (const PlanTensor& t : tensors)
    table.add({fmt::format("{}", t.call + 1), t.name, std::string(name_of(t.role)),
               std::string(name_of(t.dtype)), fmt::format("{}", t.shape),
               fmt::format("{}", t.strides), fmt::format("{}", t.offset_elems),
               grouped(static_cast<std::uint64_t>(t.storage_bytes))});
  return "\ntensors (strides and offsets in elements)\n" + table.text("  ");
}

nlohmann::ordered_json tensors_json(std::span<const PlanTensor> tensors) {
  return list(tensors, [](const PlanTensor& t) {
    return Json{{"call", t.call + 1},
                {"tensor", t.name},
                {"role", name_of(t.role)},
                {"dtype", name_of(t.dtype)},
                {"shape", t.shape},
                {"strides", t.strides},
                {"offset_elems", t.offset_elems},
                {"storage_bytes", t.storage_bytes}};
  });
}

}  // namespace redzone::report
