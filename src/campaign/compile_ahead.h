// Kernels that are compiled at run time, compiled while other plans run: each plan is run where
// nothing runs and the variants that it asks for are compiled.
#pragma once

#include <functional>
#include <memory>
#include <unordered_set>

#include "campaign/preparer.h"
#include "exec/executor.h"

namespace redzone::campaign {

class CompileAhead final : public Preparer {
 public:
  // Starts the workers that compile; asked when the first plan is to be prepared.
  using Start = std::function<std::unique_ptr<exec::Executor>()>;

  // `workers`: how many there will be.
  CompileAhead(std::size_t workers, Start start) : workers_(workers), start_(std::move(start)) {}

  std::size_t depth(const TargetSpec& spec) const override;
  Ticket prepare(const Plan& plan) override;
  bool done(Ticket ticket) override { return over_.erase(ticket) != 0; }
  void wait(std::chrono::milliseconds timeout) override;

 private:
  std::size_t workers_;
  Start start_;
  std::unique_ptr<exec::Executor> compilers_;
  Ticket last_ = 0;
  std::unordered_set<Ticket> over_;
};

}  // namespace redzone::campaign
