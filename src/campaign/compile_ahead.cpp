#include "campaign/compile_ahead.h"

#include <fmt/format.h>

#include <utility>

namespace redzone::campaign {
namespace {

// Without a sign of life, of which compiling is one: such a launcher hangs, and its trial will show
// it. Others wait for the worker meanwhile.
constexpr std::chrono::seconds kProgressTimeout{10};
// Where so many plans of a target in a row could not be prepared, so many are left alone before the
// next try: one such call is the bug that is looked for, but a launcher that cannot be run where
// nothing runs, or a machine short of memory, would cost a worker for each.
constexpr int kMostFailures = 3;
constexpr int kLeftAlone = 100;

// Of a plan that was not prepared to its end; "" of one that was.
std::string problem(const Observation& seen) {
  const bool signal = seen.fault && seen.fault->code.starts_with("SIG");
  if (signal) return seen.fault->code;
  if (seen.end == End::hang || seen.end == End::exited) return std::string(name_of(seen.end));
  if (seen.end != End::out_of_memory && seen.end != End::worker_error &&
      seen.end != End::spec_error)
    return "";
  return seen.message.substr(0, seen.message.find('\n'));
}

}  // namespace

std::size_t CompileAhead::depth(const TargetSpec& spec) const {
  // Enough to go on with while a case is looked into, and no plans are made.
  constexpr std::size_t kPlansPerWorker = 4;
  return spec.needs_nvrtc && options_.knows(spec) ? kPlansPerWorker * options_.workers : 0;
}

Preparer::Ticket CompileAhead::prepare(const Plan& plan) {
  const Ticket ticket = ++last_;
  if (Trouble& trouble = troubles_[plan.target]; trouble.left_alone > 0) {
    --trouble.left_alone;
    ++failures_.plans;
    over_.insert(ticket);
    return ticket;
  }
  if (compilers_ == nullptr) compilers_ = options_.start();
  open_.emplace(ticket, plan.target);
  compilers_->submit(
      {.id = ticket, .plan = plan, .trials = {TrialSpec{}}, .deadline = kProgressTimeout});
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
  Trouble& trouble = troubles_[target];
  const std::string why = problem(seen);
  if (why.empty()) {
    trouble.in_a_row = 0;
    return;
  }
  if (++trouble.in_a_row >= kMostFailures) trouble.left_alone = kLeftAlone;
  if (failures_.plans++ == 0) failures_.why = fmt::format("{}: {}", target, why);
}

void CompileAhead::stop() {
  compilers_.reset();
  open_.clear();
  over_.clear();
}

}  // namespace redzone::campaign
