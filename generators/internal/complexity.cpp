#include "generators/internal/complexity.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace redzone::generators {
namespace {

std::uint64_t saturated_sum(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::uint64_t>::max() : sum;
}
std::uint64_t magnitude(std::int64_t v) {
  return v < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v);
}

std::uint64_t knob_index(const KnobSpec& knob, const Config& config) {
  const Value& value = config.find(knob.name)->second;
  return static_cast<std::uint64_t>(std::find(knob.values.begin(), knob.values.end(), value) -
                                    knob.values.begin());
}

struct Sums {
  bool mixed = false;  // whether the plan mixes alignments
  std::uint64_t graphs = 0, dims = 0, layout_parts = 0, layout_sizes = 0, knobs = 0, streams = 0,
                seeds = 0;

  void add_layout(const Layout& l) {
    layout_parts += (l.row_padding_elems != 0) + l.transposed + (l.offset_elems != 0) +
                    l.unit_stride.has_value() + l.hnd + (l.slice_elems != 0) +
                    (l.broadcast_dim != -1) + (l.reversed_dim != -1);
    for (auto m : {magnitude(l.row_padding_elems), magnitude(l.offset_elems),
                   unit_stride_rank(l.unit_stride), magnitude(l.slice_elems),
                   magnitude(l.broadcast_dim + 1), magnitude(l.reversed_dim + 1)})
      layout_sizes = saturated_sum(layout_sizes, m);
  }
  void add_call(const CallStep& step, const Space& space) {
    const Point p = space.point(step.call.dims);
    for (std::size_t d = 0; d < p.size(); ++d)
      dims = saturated_sum(dims, static_cast<std::uint64_t>(rank_of(space.dim(d), p[d])));
    for (const auto& [name, layout] : step.call.layouts) add_layout(layout);
    for (const auto& knob : space.spec().knobs) knobs += knob_index(knob, step.call.config);
    graphs += step.graph != 0;
    streams += magnitude(step.stream) + (step.graph > 1 ? magnitude(step.graph - 1) : 0);
    seeds += mixed ? std::min(step.call.seed - 1, kSmallSeeds) : step.call.seed != 1;
  }
};

// The guard allocator is the plainest; the driver's pool with a non-default policy is the least
// plain.
std::uint64_t allocator_rank(const Mode& m) {
  const PoolPolicy &a = m.pool, b = {};
  const auto policy = (a.follow_event_dependencies != b.follow_event_dependencies) +
                      (a.allow_opportunistic != b.allow_opportunistic) +
                      (a.allow_internal_dependencies != b.allow_internal_dependencies) +
                      (a.release_threshold_bytes != b.release_threshold_bytes);
  switch (m.allocator) {
    case Allocator::guard:
      return 0;
    case Allocator::plain:
      return 1;
    case Allocator::caching:
      return 2;
    case Allocator::pool:
      break;
  }
  return 3 + static_cast<std::uint64_t>(policy);
}

}  // namespace

std::uint64_t unit_stride_rank(const std::optional<std::int64_t>& stride) {
  if (!stride) return 0;
  if (*stride == 1) return 1;
  return *stride == 0 ? 2 : saturated_sum(magnitude(*stride), 1);
}

std::vector<std::uint64_t> small_seeds(const Plan& plan) {
  std::vector<std::uint64_t> seeds(plan.mode.alignment == Alignment::mixed ? kSmallSeeds : 1);
  std::iota(seeds.begin(), seeds.end(), 1);
  return seeds;
}

Complexity complexity_of(const Plan& plan, const Space& space) {
  Sums sums;
  sums.mixed = plan.mode.alignment == Alignment::mixed;
  // Among plans that differ in stream names only, prefer the plan that begins on stream 0.
  if (const auto calls = calls_of(plan); !calls.empty()) sums.streams += calls[0]->stream != 0;
  for (const auto& step : plan.steps) {
    if (const auto* call = std::get_if<CallStep>(&step)) sums.add_call(*call, space);
    if (const auto* wait = std::get_if<WaitStep>(&step))
      sums.streams += magnitude(wait->stream) + magnitude(wait->on);
    if (const auto* replay = std::get_if<ReplayStep>(&step)) {
      ++sums.graphs;
      sums.streams += magnitude(replay->stream);
    }
  }
  const Mode& m = plan.mode;
  const auto mode = static_cast<std::uint64_t>(m.launch) + static_cast<std::uint64_t>(m.placement) +
                    (m.poison != 0xffffffffu) + (m.schedule_seed != 0) + allocator_rank(m) +
                    static_cast<std::uint64_t>(m.alignment) +
                    static_cast<std::uint64_t>(m.callers) +
                    static_cast<std::uint64_t>(m.addresses) + static_cast<std::uint64_t>(m.stack);
  return {static_cast<std::uint64_t>(call_count(plan)),
          plan.steps.size(),
          sums.graphs,
          sums.dims,
          sums.layout_parts,
          sums.layout_sizes,
          sums.knobs,
          sums.streams,
          sums.seeds,
          mode};
}

}  // namespace redzone::generators
