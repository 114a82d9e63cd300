#include "bisect/dim_change.h"

#include <algorithm>

#include "core/validate.h"

namespace redzone::bisect {
namespace {

const DimSpec& spec_of(const TargetSpec& spec, const std::string& name) {
  return *std::find_if(spec.dims.begin(), spec.dims.end(),
                       [&](const DimSpec& d) { return d.name == name; });
}

}  // namespace

void set_dim(Call& call, const TargetSpec& spec, const std::string& name, std::int64_t value) {
  call.dims[name] = value;
  for (const auto& c : spec.constraints) {
    if (c.kind == Constraint::Kind::predicate || (c.a != name && c.b != name)) continue;
    const std::int64_t a = get(call.dims, c.a), b = get(call.dims, c.b);
    const bool divides = c.kind == Constraint::Kind::divides;
    if (divides ? a != 0 && b % a == 0 : a <= b) continue;
    if (name == c.a) {
      const std::int64_t up = divides && a != 0 ? (b / a + 1) * a : a;
      call.dims[c.b] = up;
    } else {
      const DimSpec& bound = spec_of(spec, c.a);
      std::int64_t fits = divides ? a : b;
      while (fits > bound.min && !(allows(bound, fits) && (!divides || b % fits == 0))) --fits;
      call.dims[c.a] = fits;
    }
  }
}

std::int64_t least_value(const DimSpec& dim) {
  if (!dim.values.empty()) return *std::min_element(dim.values.begin(), dim.values.end());
  return (dim.min + dim.multiple_of - 1) / dim.multiple_of * dim.multiple_of;
}

std::int64_t reach(const DimSpec& dim, std::int64_t own) {
  if (!dim.values.empty()) return dim.values.back();
  return std::min(dim.max, std::max({4 * own, 4 * dim.tile, std::int64_t{256}}));
}

}  // namespace redzone::bisect
