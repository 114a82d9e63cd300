#include "campaign/compile_ahead.h"

#include <utility>

namespace redzone::campaign {
namespace {

// Without a sign of life, of which compiling is one: such a launcher hangs, and its trial will show
// it. Others wait for the worker meanwhile.
constexpr std::chrono::seconds kPatience{10};

}  // namespace

std::size_t CompileAhead::depth(const TargetSpec& spec) const {
  // One more than can be compiled at a time: the next is there when its turn comes.
  return spec.needs_nvrtc ? workers_ + 1 : 0;
}

Preparer::Ticket CompileAhead::prepare(const Plan& plan) {
  if (compilers_ == nullptr) compilers_ = start_();
  compilers_->submit({.id = ++last_, .plan = plan, .trials = {TrialSpec{}}, .deadline = kPatience});
  return last_;
}

void CompileAhead::wait(std::chrono::milliseconds timeout) {
  if (compilers_ == nullptr) return;
  for (auto done = compilers_->next(timeout); done;
       done = compilers_->next(std::chrono::milliseconds(0)))
    over_.insert(done->id);
}

}  // namespace redzone::campaign
