// Calls that satisfy their target's spec: new ones, and small changes of another call.
#pragma once

#include "generators/internal/cost.h"
#include "generators/internal/space.h"

namespace redzone::generators {

class Draw;

// Immutable; shared by all plans of a target. Every returned call passes validate_call() and costs
// at most its allowance. If even simplest() costs more than the allowance, simplest() is returned.
class CallMaker {
 public:
  // Borrows `spec`. If `sparse`, storage that is never touched costs nothing. Searches for a call
  // that satisfies the spec; throws std::invalid_argument if none is found.
  CallMaker(const TargetSpec& spec, bool sparse);

  const TargetSpec& spec() const { return space_.spec(); }
  // The fallback if the allowance is too small for any other call.
  const Call& simplest() const { return simplest_; }
  Cost cost(const Call& call) const;
  // Cost of the smallest call that does work: no dim is 0 unless the spec allows no other value.
  // Padding to tiles can make this cost much larger than the call's data suggests.
  const Cost& least() const { return least_; }
  std::int64_t least_value(std::size_t dim) const { return least_point_[dim]; }
  // Whether the call of least() still satisfies the spec and costs at most `allowance` with dim
  // number `dim` set to `value`; other dims change only as the constraints require.
  bool can_have(std::size_t dim, std::int64_t value, const Cost& allowance) const;

  // Returns false if a dim is 0 although it could be larger. Such calls mostly launch nothing.
  bool does_work(const Call& call) const;

  Call fresh(Draw& draw, const Cost& allowance) const;
  // Draws a call that does work. If a few tries draw none, returns the smallest such call, which
  // may exceed the allowance.
  Call working(Draw& draw, const Cost& allowance) const;
  // Close to the largest call that the allowance permits.
  Call large(Draw& draw, const Cost& allowance) const;
  // A call at the boundary of a product (products.h); nullopt if a bounded number of tries finds
  // none.
  std::optional<Call> at_boundary(Draw& draw, const Cost& allowance) const;

  // Each of these returns `from` unchanged if it finds no such change.
  Call with_dim_switched(Draw& draw, const Call& from, const Cost& allowance) const;
  Call with_knob_switched(Draw& draw, const Call& from, const Cost& allowance) const;
  Call with_other_layouts(Draw& draw, const Call& from, const Cost& allowance) const;
  Call with_other_data(Draw& draw, const Call& from) const;
  // Makes dim number `dim` larger or smaller.
  Call grown(Draw& draw, const Call& from, std::size_t dim, const Cost& allowance) const;
  Call shrunk(Draw& draw, const Call& from, std::size_t dim, const Cost& allowance) const;

  // Gives one tensor of `call` a layout whose offsets exceed 2^31; see draw_big_offsets(). Returns
  // nullopt if no tensor can have such a layout within `max_bytes` of storage.
  std::optional<Call> with_big_offsets(Draw& draw, const Call& call, double max_bytes) const;

  // Index of a dim that has more than one value; the number of dims if there is none.
  std::size_t draw_free_dim(Draw& draw) const;

 private:
  Call known_call() const;
  Dims least_dims() const;
  bool does_work(const Point& p) const;
  using PointSource = Point (*)(Draw&, const Space&);
  Call fresh_at(Draw& draw, const Cost& allowance, PointSource points) const;
  bool try_dims(Draw& draw, const Cost& allowance, PointSource points, Call& call) const;
  void fit_layouts(const Cost& allowance, Call& call) const;
  Call with_dim(const Call& from, std::size_t dim, std::int64_t value, const Cost& allowance) const;

  Space space_;
  bool sparse_;
  std::vector<std::size_t> free_dims_;
  Call simplest_;      // a call known to satisfy the spec
  Point least_point_;  // dims of the call of least()
  Cost least_;
};

}  // namespace redzone::generators
