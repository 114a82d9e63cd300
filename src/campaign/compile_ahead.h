// Compiles run-time compiled kernels while other plans run: a dry run of each plan compiles the
// kernel variants that the plan requests.
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
  // Starts the compile workers; called when the first plan is to be prepared.
  std::function<std::unique_ptr<exec::Executor>()> start;
  // True if the compile workers have loaded the target. Plans of other targets are not prepared
  // ahead.
  std::function<bool(const TargetSpec&)> knows;
};

class CompileAhead final : public Preparer {
 public:
  explicit CompileAhead(CompileAheadOptions options) : options_(std::move(options)) {}

  std::size_t depth(const TargetSpec& spec) const override;
  // After repeated failures for a target, prepare() skips its next plans: their tickets are done at
  // once.
  Ticket prepare(const Plan& plan) override;
  bool done(Ticket ticket) override { return over_.erase(ticket) != 0; }
  void wait(std::chrono::milliseconds timeout) override;
  void stop() override;

  // Plans that were prepared only in part or not at all, and the reason for the first one on one
  // line. Their trials compile what is missing.
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
  std::unordered_map<Ticket, std::string> open_;  // value: the target
  std::unordered_set<Ticket> over_;
  struct Trouble {
    int in_a_row = 0;    // plans that could not be prepared
    int left_alone = 0;  // plans still to be skipped
  };
  std::unordered_map<std::string, Trouble> troubles_;  // by target
  Failures failures_;
};

}  // namespace redzone::campaign
