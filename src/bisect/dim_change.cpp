#include "bisect/dim_change.h"

#include <algorithm>

#include "core/validate.h"
#include "core/work.h"

namespace redzone::bisect {
namespace {

// Scalar operations that the calls of a plan may take together, unless those of the failing plan
// take nearly as many.
constexpr double kFarWork = 5e5;
constexpr double kFarFactor = 4;

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

std::optional<std::int64_t> far_value(const TargetSpec& spec, const Call& call, const DimSpec& dim,
                                      std::size_t calls) {
  const std::int64_t own = get(call.dims, dim.name);
  const double most = std::max(kFarWork / static_cast<double>(calls),
                               kFarFactor * work_of(spec, call.dims, call.config));
  const auto largest = dim.values.empty() ? dim.max / dim.multiple_of * dim.multiple_of
                                          : *std::max_element(dim.values.begin(), dim.values.end());
  for (std::int64_t value = largest; value > own;) {
    Call changed = call;
    set_dim(changed, spec, dim.name, value);
    if (allows(dim, value) && validate_call(changed, spec) &&
        work_of(spec, changed.dims, changed.config) <= most)
      return value;
    if (dim.values.empty()) {
      value = value / 2 / dim.multiple_of * dim.multiple_of;
      continue;
    }
    std::int64_t next = own;
    for (const auto v : dim.values)
      if (v < value) next = std::max(next, v);
    value = next;
  }
  return std::nullopt;
}

}  // namespace redzone::bisect
