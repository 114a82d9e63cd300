#include "campaign/compile_ahead.h"

#include <fmt/format.h>

#include <utility>

namespace redzone::campaign {
namespace {

// Without a sign of life, of which compiling is one: such a launcher hangs, and its trial will show
// it. Others wait for the worker meanwhile.
constexpr std::chrono::seconds kPatience{10};
// Workers that a target takes down. One such call is the bug that is looked for; a launcher that
// goes on like that cannot be run where nothing runs.
constexpr int kMostLosses = 3;

bool took_its_worker_down(const Observation& seen) {
  return seen.end == End::hang || seen.end == End::exited ||
         (seen.fault && seen.fault->code.starts_with("SIG"));
}

}  // namespace

std::size_t CompileAhead::depth(const TargetSpec& spec) const {
  // One more than can be compiled at a time: the next is there when its turn comes.
  return spec.needs_nvrtc && options_.knows(spec) ? options_.workers + 1 : 0;
}

Preparer::Ticket CompileAhead::prepare(const Plan& plan) {
  const Ticket ticket = ++last_;
  if (const auto it = losses_.find(plan.target); it != losses_.end() && it->second >= kMostLosses) {
    ++failures_.plans;
    over_.insert(ticket);
    return ticket;
  }
  if (compilers_ == nullptr) compilers_ = options_.start();
  open_.emplace(ticket, plan.target);
  compilers_->submit({.id = ticket, .plan = plan, .trials = {TrialSpec{}}, .deadline = kPatience});
  return ticket;
}

void CompileAhead::wait(std::chrono::milliseconds timeout) {
  if (compilers_ == nullptr) return;
  for (auto done = compilers_->next(timeout); done;
       done = compilers_->next(std::chrono::milliseconds(0))) {
    const auto open = open_.extract(done->id);
    for (const auto& seen : done->observations) note(open.mapped(), seen);
    over_.insert(done->id);
  }
}

void CompileAhead::note(const std::string& target, const Observation& seen) {
  const bool lost = took_its_worker_down(seen);
  if (!lost && seen.end != End::worker_error) return;
  if (lost) ++losses_[target];
  if (failures_.plans++ == 0)
    failures_.why = fmt::format("{}: {}", target,
                                seen.end == End::worker_error ? seen.message
                                : seen.end == End::fault      ? seen.fault->code
                                                              : std::string(name_of(seen.end)));
}

void CompileAhead::stop() {
  compilers_.reset();
  open_.clear();
  over_.clear();
}

}  // namespace redzone::campaign
