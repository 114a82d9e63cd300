// Claims: whichever of two operations runs first that nothing orders, a correct target gives the
// same outputs. The first trial records what each operation may use, and which pairs of operations
// the program leaves open although both may use one buffer and one of them may write, free or reuse
// it (order/record.h). Of each such pair further trials force first the one order and then the
// other, and then each once more, the other one first; all other operations run as they were
// enqueued, one after another, and under the natural schedule. Fails if the outputs, or the writes
// to freed memory, are the same in both trials of an order and differ between the orders, and if
// both trials of one order fault and none of the other does. A use that comes after the free of its
// buffer is no matter of order: there the trials differ in whether the freed memory keeps its
// bytes, and a difference is a use after free.
//
// Every order that is forced is one that the program allows, so a failure is wrong only about
// targets wrongly declared deterministic, or where they fail at random, or by what the process
// keeps of earlier trials, and that happens to agree with the order four times. Where the first of
// the two operations is held, what lies between them runs before it, so of several pairs that make
// a difference it names the first: what lies between the two of that one makes none. Pairs with the
// fill of the tensors, or with the end of the calls, come behind those of the target alone. It may
// still be wrong where the target orders streams in ways that are not seen (stream handles). Misses
// uses through pointers in memory, races within one graph, and pairs beyond those that a trial
// records. Always runs under the allocator `guard`, which fills freed memory. A plan with blocking
// launches leaves no pair open. Cost: 1 trial, and for each pair 5, one after another in one
// worker, and a worker for each fault. Where the first trial faults three pairs are tried.
#pragma once

#include <functional>
#include <utility>

#include "core/oracle.h"

namespace redzone::oracles {

class OrderOracle final : public Oracle {
 public:
  static constexpr std::string_view kName = "order";
  // Which of the pairs that the first trial records are tried.
  using Picks = std::function<bool(const OrderCandidate& pair)>;

  // Tries them all.
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
