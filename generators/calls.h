// Calls that satisfy their target's spec, fresh or as a small change of another call.
#pragma once

#include "generators/internal/cost.h"
#include "generators/internal/space.h"

namespace redzone::generators {

class Draw;

// Immutable; shared by all plans of a target. Every call that comes out passes validate_call() and
// costs at most its allowance, or, where not even the spec's simplest known call does, is that one.
class CallMaker {
 public:
  // Borrows `spec`. `sparse`: storage that nobody touches costs nothing. Looks for one call that
  // satisfies the spec; throws std::invalid_argument when it finds none.
  CallMaker(const TargetSpec& spec, bool sparse);

  const TargetSpec& spec() const { return space_.spec(); }
  // What is left where the allowance is too small for anything else.
  const Call& simplest() const { return simplest_; }
  Cost cost(const Call& call) const;
  // What a call costs that does something: the smallest without a dim of 0, as far as the spec lets
  // a dim be more. Of one that is all tiles and launches this is much more than its data suggests.
  const Cost& least() const { return least_; }
  std::int64_t least_value(std::size_t dim) const { return least_point_[dim]; }
  // Whether that call with another value of one dim (index `dim`) satisfies the spec, others being
  // changed only as its constraints demand, and costs at most that much.
  bool can_have(std::size_t dim, std::int64_t value, const Cost& allowance) const;

  Call fresh(Draw& draw, const Cost& allowance) const;
  // As large as the allowance lets it be, or nearly.
  Call large(Draw& draw, const Cost& allowance) const;

  // Each returns `from` itself when it finds no such change.
  Call with_dim_switched(Draw& draw, const Call& from, const Cost& allowance) const;
  Call with_knob_switched(Draw& draw, const Call& from, const Cost& allowance) const;
  Call with_other_layouts(Draw& draw, const Call& from, const Cost& allowance) const;
  Call with_other_data(Draw& draw, const Call& from) const;
  // One dim (index `dim`) larger or smaller.
  Call grown(Draw& draw, const Call& from, std::size_t dim, const Cost& allowance) const;
  Call shrunk(Draw& draw, const Call& from, std::size_t dim, const Cost& allowance) const;

  // One tensor of `call` in a layout whose offsets pass 2^31; see draw_big_offsets(). Nothing when
  // no tensor can have one at `max_bytes` of storage.
  std::optional<Call> with_big_offsets(Draw& draw, const Call& call, double max_bytes) const;

  // A dim that has more than one value, or size() of the dims when there is none.
  std::size_t draw_free_dim(Draw& draw) const;

 private:
  Call known_call() const;
  Dims least_dims() const;
  using PointSource = Point (*)(Draw&, const Space&);
  Call fresh_at(Draw& draw, const Cost& allowance, PointSource points) const;
  bool try_dims(Draw& draw, const Cost& allowance, PointSource points, Call& call) const;
  void fit_layouts(const Cost& allowance, Call& call) const;
  Call with_dim(const Call& from, std::size_t dim, std::int64_t value, const Cost& allowance) const;

  Space space_;
  bool sparse_;
  std::vector<std::size_t> free_dims_;
  Call simplest_;      // a call known to satisfy the spec
  Point least_point_;  // of the call that does something
  Cost least_;
};

}  // namespace redzone::generators
