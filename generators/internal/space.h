// The dims that a target allows, and the repair of points that break a constraint.
//
// A point is one value per dim, in the order of TargetSpec::dims. Structural constraints (divides,
// at_most) are repaired by construction; predicates are only evaluated. Immutable after
// construction.
#pragma once

#include <redzone/spec.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace redzone::generators {

std::int64_t smallest(const DimSpec& dim);
std::int64_t largest(const DimSpec& dim);
// The allowed value nearest to `value` from below or above; `value` itself if allowed.
std::optional<std::int64_t> allowed_at_most(const DimSpec& dim, std::int64_t value);
std::optional<std::int64_t> allowed_at_least(const DimSpec& dim, std::int64_t value);
// Number of allowed values smaller than `value`: 0 for the smallest.
std::int64_t rank_of(const DimSpec& dim, std::int64_t value);

using Point = std::vector<std::int64_t>;

// A set of dims, one bit each.
using DimSet = std::uint64_t;
constexpr DimSet dim_bit(std::size_t dim) {
  return DimSet{1} << dim;
}

class Space {
 public:
  // Borrows `spec`, which must outlive the space. At most 64 dims.
  explicit Space(const TargetSpec& spec);

  const TargetSpec& spec() const { return *spec_; }
  std::size_t size() const { return spec_->dims.size(); }
  const DimSpec& dim(std::size_t d) const { return spec_->dims[d]; }

  Point smallest_point() const;
  Point point(const Dims& dims) const;
  Dims dims(const Point& point) const;
  // Overwrites the values of `dims`, which must have exactly the dims of the spec.
  void store(const Point& point, Dims& dims) const;

  bool has_predicates() const { return !predicates_.empty(); }
  // True if all predicates hold. Ignores structural constraints.
  bool predicates_hold(const Dims& dims, const Config& config) const;

  // The first constraint that does not hold; null if all do.
  const Constraint* violated(const Dims& dims, const Config& config) const;

  // Changes dims outside `pinned` until every divides and at_most constraint holds; the larger side
  // of a divides constraint changes first. On failure returns false and leaves the point partly
  // changed.
  bool repair(Point& point, DimSet pinned) const;

  // The value for `dim` nearest to `want` (below first) that satisfies each structural constraint
  // of the dim while all other dims stay the same. Zero only if no other value fits or `want` is
  // zero.
  std::optional<std::int64_t> fitting_value(const Point& point, std::size_t dim,
                                            std::int64_t want) const;

  // Pairs (a, b) of dims with a `divides` constraint between them.
  struct Divides {
    std::size_t a;
    std::size_t b;
  };
  const std::vector<Divides>& divides() const { return divides_; }

 private:
  struct Relation {
    bool divides;  // if false: at_most
    std::size_t a;
    std::size_t b;
  };
  static bool holds(const Relation& r, const Point& p);
  std::optional<std::int64_t> fit(const Point& p, std::size_t dim, std::int64_t want,
                                  const Relation* first, const Relation* last) const;
  bool mend(const Relation& r, Point& p, DimSet pinned) const;

  const TargetSpec* spec_;
  std::vector<Relation> relations_;  // in the order of the constraints
  std::vector<Divides> divides_;
  std::vector<std::size_t> by_name_;  // dims in the order of a Dims map
  std::vector<const Constraint*> predicates_;
};

}  // namespace redzone::generators
