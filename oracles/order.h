// Claims: a correct target gives the same outputs whichever of two unordered operations runs first.
// The first trial records which buffers each operation may use, and which pairs of operations the
// program leaves unordered although both may use one buffer and one of them may write, free or
// reuse it (order/record.h). For each such pair, further trials force one order, then the other,
// then each again, starting with the other; all other operations run in the order in which they
// were enqueued, one after another, and under the natural schedule. Fails if the outputs, or the
// writes to freed memory, are the same in both trials of an order and differ between the orders,
// and if both trials of one order fault and no trial of the other order does. A use that comes
// after the free of its buffer does not depend on the order: its trials differ in whether the freed
// memory keeps its bytes, and a difference is a use after free.
//
// Every forced order is one that the program allows. So a failure can be wrong only about targets
// wrongly declared deterministic, or if random failures or state that the process keeps from
// earlier trials happen to agree with the order four times. If the first of the two operations is
// held, the operations between the two run before it; so of several pairs that make a difference,
// the first is named, because no pair between its two operations makes one. Pairs with the fill of
// the tensors, or with the end of the calls, come after pairs of the target's own operations. The
// oracle may still be wrong if the target orders streams in ways that are not observed (stream
// handles). Misses uses through pointers in memory, races within one graph, and pairs beyond those
// that a trial records. Always runs under the allocator `guard`, which fills freed memory. A plan
// with blocking launches leaves no pair unordered. Cost: 1 trial, and 5 for each pair, one after
// another in one worker, and a worker for each fault. If the first trial faults, only three pairs
// are tried.
#pragma once

#include <functional>
#include <utility>

#include "core/oracle.h"

namespace redzone::oracles {

class OrderOracle final : public Oracle {
 public:
  static constexpr std::string_view kName = "order";
  // Selects which of the pairs that the first trial records are tried.
  using Picks = std::function<bool(const OrderCandidate& pair)>;

  // Tries all pairs.
  OrderOracle() = default;
  explicit OrderOracle(Picks picks) : picks_(std::move(picks)) {}

  std::string_view name() const override { return kName; }
  std::vector<TrialSpec> expand(const Plan& plan, const TargetSpec& spec) const override;
  std::vector<TrialSpec> follow_up(const Plan& plan, const TargetSpec& spec,
                                   std::span<const Observation> observations) const override;
  std::vector<std::string_view> varies() const override;
  bool shares_worker() const override { return true; }
  Verdict judge(const Plan& plan, const TargetSpec& spec,
                std::span<const Observation> observations) const override;

 private:
  std::vector<OrderCandidate> pairs_of(std::span<const Observation> observations) const;

  Picks picks_;
};

// "'reverse' of call 1 (N = 1) on stream 0".
std::string describe_operation(const Plan& plan, const OrderedOperation& operation);

}  // namespace redzone::oracles
