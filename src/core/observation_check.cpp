#include "core/observation_check.h"

#include <fmt/format.h>

#include <limits>

namespace redzone {
namespace {

using Problem = std::optional<std::string>;

// Far more than any trial counts, and small enough that sums of counts do not overflow.
constexpr std::uint64_t kMostCounted = std::uint64_t{1} << 60;

Problem counted(std::string_view what, std::initializer_list<std::uint64_t> counts) {
  for (const auto n : counts)
    if (n > kMostCounted) return fmt::format("{} of {}", what, n);
  return std::nullopt;
}

class Check {
 public:
  explicit Check(std::size_t calls) : calls_(calls) {}

  Problem operator()(const Observation& o) const {
    if (o.end == End::fault && !o.fault) return "a fault without a description";
    if (auto p = counted("a measure", {o.wall_us, o.mapping_calls, o.bytes})) return p;
    if (o.fault)
      if (auto p = place("a fault", o.fault->call, o.fault->distance_bytes)) return p;
    if (auto p = calls_of_trial(o)) return p;
    if (o.encodes.size() > kMostEncodeObservations)
      return fmt::format("{} descriptors", o.encodes.size());
    for (const auto& e : o.encodes)
      if (auto p = place("a descriptor", e.call, 0)) return p;
    if (o.own_memory) {
      const OwnMemory& m = *o.own_memory;
      if (auto p = counted("a count",
                           {m.blocks, m.bytes, m.left_out_blocks, m.left_out_bytes, m.other_blocks,
                            m.other_bytes, m.unpoisoned_blocks, m.unguarded_trials}))
        return p;
    }
    if (o.order)
      if (auto p = candidates(*o.order)) return p;
    return o.sanitizer ? report(*o.sanitizer) : std::nullopt;
  }

 private:
  // `call` may be -1: unknown.
  Problem place(std::string_view what, std::int32_t call, std::int64_t distance_bytes) const {
    if (call != -1 && !is_call(call))
      return fmt::format("{} of call {}, the plan has {}", what, call, calls_);
    // The absolute value of the minimum does not fit into std::int64_t.
    if (distance_bytes == std::numeric_limits<std::int64_t>::min())
      return fmt::format("{} at a distance of {} bytes", what, distance_bytes);
    return std::nullopt;
  }

  Problem calls_of_trial(const Observation& o) const {
    std::int32_t last = -1;
    for (const auto& c : o.calls) {
      if (!is_call(c.call))
        return fmt::format("results of call {}, the plan has {}", c.call, calls_);
      if (c.call <= last) return fmt::format("results of call {} out of order", c.call);
      last = c.call;
      if (c.scratch.size() > kMostScratchObservations)
        return fmt::format("{} requests for scratch in one call", c.scratch.size());
      for (const auto& b : c.buffers)
        if (auto p = counted("a count",
                             {b.numel, b.dirty_before, b.dirty_after, b.dirty_gaps, b.changed}))
          return p;
      for (const auto& r : c.references)
        if (auto p = reference(r)) return p;
    }
    return std::nullopt;
  }

  static Problem reference(const ReferenceObservation& r) {
    if (auto p = counted("a count", {r.numel, r.mismatches, r.first_index, r.of})) return p;
    const std::uint64_t all = r.of > 0 ? r.of : r.numel;
    if (r.numel > all) return fmt::format("a sample of {} of {} elements", r.numel, all);
    if (r.mismatches > r.numel)
      return fmt::format("{} of {} compared elements differ", r.mismatches, r.numel);
    if (r.mismatches > 0 && r.first_index >= all)
      return fmt::format("element {} of {} differs", r.first_index, all);
    return std::nullopt;
  }

  Problem candidates(const OrderObservation& order) const {
    if (order.candidates.size() > kMostOrderCandidates)
      return fmt::format("{} pairs of operations", order.candidates.size());
    for (const auto& c : order.candidates)
      for (const auto call : {c.buffer_call, c.first.call, c.second.call})
        if (auto p = place("an operation", call, 0)) return p;
    return std::nullopt;
  }

  Problem report(const SanitizerReport& report) const {
    if (auto p = counted("a count", {report.dropped})) return p;
    for (const auto& r : report.records) {
      if (auto p = place("a record", r.call, r.distance_bytes)) return p;
      if (auto p = counted("a count", {r.count})) return p;
    }
    return std::nullopt;
  }

  bool is_call(std::int32_t call) const {
    return call >= 0 && static_cast<std::size_t>(call) < calls_;
  }

  std::size_t calls_;
};

}  // namespace

std::optional<std::string> observation_problem(const Observation& observation, std::size_t calls) {
  return Check(calls)(observation);
}

}  // namespace redzone
