// Kernels that are compiled at run time, compiled while other plans run: each plan is run where
// nothing runs and the variants that it asks for are compiled.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "campaign/preparer.h"
#include "exec/executor.h"

namespace redzone::campaign {

struct CompileAheadOptions {
  std::size_t workers = 1;
  // Starts so many that compile; asked when the first plan is to be prepared.
  std::function<std::unique_ptr<exec::Executor>()> start;
  // Whether they know the target. Plans of others are not made ahead.
  std::function<bool(const TargetSpec&)> knows;
};

class CompileAhead final : public Preparer {
 public:
  explicit CompileAhead(CompileAheadOptions options) : options_(std::move(options)) {}

  std::size_t depth(const TargetSpec& spec) const override;
  // Of a target with which that fails again and again, the tickets of the next plans are over at
  // once.
  Ticket prepare(const Plan& plan) override;
  bool done(Ticket ticket) override { return over_.erase(ticket) != 0; }
  void wait(std::chrono::milliseconds timeout) override;
  void stop() override;

  // Plans that were prepared in part or not at all, and why the first of them was: one line. What
  // is missing their trials make.
  struct Failures {
    std::uint64_t plans = 0;
    std::string why = {};
  };
  const Failures& failures() const { return failures_; }

 private:
  void note(const std::string& target, const Observation& seen);

  CompileAheadOptions options_;
  std::unique_ptr<exec::Executor> compilers_;
  Ticket last_ = 0;
  std::unordered_map<Ticket, std::string> open_;  // the target
  std::unordered_set<Ticket> over_;
  struct Trouble {
    int in_a_row = 0;    // plans that could not be prepared
    int left_alone = 0;  // plans that are not to be, from now on
  };
  std::unordered_map<std::string, Trouble> troubles_;  // by target
  Failures failures_;
};

}  // namespace redzone::campaign
