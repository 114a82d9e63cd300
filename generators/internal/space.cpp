#include "generators/internal/space.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/error.h"
#include "core/spec_limits.h"

namespace redzone::generators {
namespace {

// Largest multiple of `step` that is at most `value`; step >= 1.
std::int64_t floor_to(std::int64_t value, std::int64_t step) {
  const std::int64_t rest = value % step;
  return value - (rest < 0 ? rest + step : rest);
}
std::int64_t ceil_to(std::int64_t value, std::int64_t step) {
  const std::int64_t down = floor_to(value, step);
  return down == value ? value : down + step;
}

// The values of a dim that structural constraints allow: lo <= v <= hi, v % step == 0, v divides
// `whole` unless `whole` is 0, and v != 0 if `nonzero`.
struct Window {
  std::int64_t lo;
  std::int64_t hi;
  std::int64_t step = 1;
  std::int64_t whole = 0;
  bool nonzero = false;

  bool admits(std::int64_t v) const {
    if (v < lo || v > hi || v % step != 0) return false;
    if (v == 0) return !nonzero && whole == 0;
    return whole % v == 0;
  }
};

// Collects the candidates nearest to `want` from below and from above.
class Nearest {
 public:
  explicit Nearest(std::int64_t want) : want_(want) {}
  void offer(std::int64_t v) {
    if (v == 0 && want_ != 0)
      zero_ = v;
    else if (v <= want_)
      below_ = below_ ? std::max(*below_, v) : v;
    else
      above_ = above_ ? std::min(*above_, v) : v;
  }
  std::optional<std::int64_t> best() const {
    if (below_) return below_;
    return above_ ? above_ : zero_;
  }

 private:
  std::int64_t want_;
  std::optional<std::int64_t> below_, above_, zero_;
};

void offer_multiples(const Window& w, std::int64_t want, Nearest& nearest) {
  const std::int64_t down = floor_to(std::clamp(want, w.lo, w.hi), w.step);
  for (std::int64_t v : {down - w.step, down, down + w.step, std::int64_t{0}})
    if (w.admits(v)) nearest.offer(v);
  if (const auto v = ceil_to(w.lo, w.step); w.admits(v)) nearest.offer(v);
}

void offer_divisors(const Window& w, Nearest& nearest) {
  const std::int64_t lo = std::max<std::int64_t>(w.lo, 1);
  if (w.hi < lo) return;
  const std::int64_t whole = w.whole < 0 ? -w.whole : w.whole;
  // Tries all multiples of the step, or all divisors up to the square root, whichever are fewer.
  const std::int64_t multiples = (w.hi - lo) / w.step + 1;
  if (multiples <= whole / multiples) {
    for (std::int64_t v = ceil_to(lo, w.step); v <= w.hi; v += w.step)
      if (w.admits(v)) nearest.offer(v);
    return;
  }
  for (std::int64_t d = 1; d <= whole / d; ++d) {
    if (whole % d != 0) continue;
    for (std::int64_t v : {d, whole / d})
      if (w.admits(v)) nearest.offer(v);
  }
}

}  // namespace

std::int64_t smallest(const DimSpec& dim) {
  return dim.values.empty() ? ceil_to(dim.min, dim.multiple_of) : dim.values.front();
}

std::int64_t largest(const DimSpec& dim) {
  return dim.values.empty() ? floor_to(dim.max, dim.multiple_of) : dim.values.back();
}

std::optional<std::int64_t> allowed_at_most(const DimSpec& dim, std::int64_t value) {
  if (!dim.values.empty()) {
    auto it = std::upper_bound(dim.values.begin(), dim.values.end(), value);
    if (it == dim.values.begin()) return std::nullopt;
    return *std::prev(it);
  }
  const std::int64_t v = floor_to(std::min(value, dim.max), dim.multiple_of);
  return v >= dim.min ? std::optional(v) : std::nullopt;
}

std::optional<std::int64_t> allowed_at_least(const DimSpec& dim, std::int64_t value) {
  if (!dim.values.empty()) {
    auto it = std::lower_bound(dim.values.begin(), dim.values.end(), value);
    return it == dim.values.end() ? std::nullopt : std::optional(*it);
  }
  if (value > largest(dim)) return std::nullopt;
  return ceil_to(std::max(value, dim.min), dim.multiple_of);
}

std::int64_t rank_of(const DimSpec& dim, std::int64_t value) {
  if (!dim.values.empty())
    return std::lower_bound(dim.values.begin(), dim.values.end(), value) - dim.values.begin();
  return (value - smallest(dim)) / dim.multiple_of;
}

Space::Space(const TargetSpec& spec) : spec_(&spec) {
  RZ_CHECK(spec.dims.size() <= kMostDims);
  auto index_of = [&](const std::string& name) {
    auto it = std::find_if(spec.dims.begin(), spec.dims.end(),
                           [&](const DimSpec& d) { return d.name == name; });
    RZ_CHECK(it != spec.dims.end());
    return static_cast<std::size_t>(it - spec.dims.begin());
  };
  for (const auto& c : spec.constraints) {
    if (c.kind == Constraint::Kind::predicate) {
      predicates_.push_back(&c);
      continue;
    }
    const bool divides = c.kind == Constraint::Kind::divides;
    relations_.push_back({divides, index_of(c.a), index_of(c.b)});
    if (divides) divides_.push_back({relations_.back().a, relations_.back().b});
  }
  by_name_.resize(spec.dims.size());
  std::iota(by_name_.begin(), by_name_.end(), std::size_t{0});
  std::sort(by_name_.begin(), by_name_.end(),
            [&](std::size_t x, std::size_t y) { return spec.dims[x].name < spec.dims[y].name; });
}

Point Space::smallest_point() const {
  Point p;
  p.reserve(size());
  for (const auto& d : spec_->dims) p.push_back(smallest(d));
  return p;
}

Point Space::point(const Dims& dims) const {
  RZ_CHECK(dims.size() == size());
  Point p(size());
  auto it = dims.begin();
  for (std::size_t d : by_name_) p[d] = (it++)->second;
  return p;
}

Dims Space::dims(const Point& point) const {
  Dims dims;
  for (std::size_t d : by_name_) dims.emplace_hint(dims.end(), spec_->dims[d].name, point[d]);
  return dims;
}

void Space::store(const Point& point, Dims& dims) const {
  RZ_CHECK(dims.size() == size());
  auto it = dims.begin();
  for (std::size_t d : by_name_) (it++)->second = point[d];
}

bool Space::predicates_hold(const Dims& dims, const Config& config) const {
  return std::all_of(predicates_.begin(), predicates_.end(),
                     [&](const Constraint* c) { return c->holds(dims, config); });
}

bool Space::holds(const Relation& r, const Point& p) {
  if (r.divides) return p[r.a] != 0 && p[r.b] % p[r.a] == 0;
  return p[r.a] <= p[r.b];
}

const Constraint* Space::violated(const Dims& dims, const Config& config) const {
  const Point p = point(dims);
  auto relation = relations_.begin();
  for (const auto& c : spec_->constraints)
    if (!(c.kind == Constraint::Kind::predicate ? c.holds(dims, config) : holds(*relation++, p)))
      return &c;
  return nullptr;
}

std::optional<std::int64_t> Space::fit(const Point& p, std::size_t dim, std::int64_t want,
                                       const Relation* first, const Relation* last) const {
  const DimSpec& spec = spec_->dims[dim];
  Window w{smallest(spec), largest(spec), spec.values.empty() ? spec.multiple_of : 1};
  for (const Relation* r = first; r != last; ++r) {
    if (r->divides && r->a == dim) {
      w.nonzero = true;
      w.whole = std::gcd(w.whole, p[r->b]);
    } else if (r->divides && r->b == dim) {
      if (p[r->a] == 0) return std::nullopt;
      const std::int64_t a = p[r->a] < 0 ? -p[r->a] : p[r->a];
      const std::int64_t g = std::gcd(w.step, a);
      // If the step exceeds the largest value of the dim, or overflows, only zero remains.
      if (__builtin_mul_overflow(w.step / g, a, &w.step))
        w.step = std::numeric_limits<std::int64_t>::max() / 4;
    } else if (!r->divides && r->a == dim) {
      w.hi = std::min(w.hi, p[r->b]);
    } else if (!r->divides && r->b == dim) {
      w.lo = std::max(w.lo, p[r->a]);
    }
  }
  if (w.lo > w.hi) return std::nullopt;
  Nearest nearest(want);
  if (!spec.values.empty()) {
    for (auto v : spec.values)
      if (w.admits(v)) nearest.offer(v);
  } else if (w.whole != 0) {
    offer_divisors(w, nearest);
  } else {
    offer_multiples(w, want, nearest);
  }
  return nearest.best();
}

std::optional<std::int64_t> Space::fitting_value(const Point& point, std::size_t dim,
                                                 std::int64_t want) const {
  return fit(point, dim, want, relations_.data(), relations_.data() + relations_.size());
}

bool Space::mend(const Relation& r, Point& p, DimSet pinned) const {
  const bool b_first = r.divides && p[r.b] >= p[r.a];
  const std::size_t sides[2] = {b_first ? r.b : r.a, b_first ? r.a : r.b};
  for (std::size_t d : sides) {
    if (pinned & dim_bit(d)) continue;
    if (auto v = fitting_value(p, d, p[d])) {
      p[d] = *v;
      return true;
    }
  }
  // No value satisfies all constraints of the dim: satisfy this constraint; later rounds repair the
  // others.
  for (std::size_t d : sides) {
    if (pinned & dim_bit(d)) continue;
    if (auto v = fit(p, d, p[d], &r, &r + 1)) {
      p[d] = *v;
      return true;
    }
  }
  return false;
}

bool Space::repair(Point& point, DimSet pinned) const {
  // A chain of constraints settles in one round per link; a point that has not settled by then
  // oscillates.
  const std::size_t rounds = 4 * relations_.size() + 1;
  for (std::size_t i = 0; i < rounds; ++i) {
    auto broken = std::find_if(relations_.begin(), relations_.end(),
                               [&](const Relation& r) { return !holds(r, point); });
    if (broken == relations_.end()) return true;
    if (!mend(*broken, point, pinned)) return false;
  }
  return false;
}

}  // namespace redzone::generators
