#include "campaign/compile_ahead.h"

#include <fmt/format.h>

#include <utility>

#include "core/log.h"

namespace redzone::campaign {
namespace {

// Progress timeout of a compile worker. Compilation counts as progress, so a timeout means that the
// launcher hangs; the plan's trial will show that. Meanwhile other plans wait for the worker.
constexpr std::chrono::seconds kProgressTimeout{10};
// After kMostFailures consecutive plans of a target that could not be prepared, kLeftAlone plans
// are skipped before the next attempt. A single failure may be the bug that the campaign searches
// for, but a launcher that fails in every dry run, or a machine short of memory, would cost a
// worker for each plan.
constexpr int kMostFailures = 3;
constexpr int kLeftAlone = 100;

// Why a plan was not fully prepared; "" if it was.
std::string compile_problem(const Observation& seen) {
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
  // Enough for the time in which a case is triaged and no plans are generated.
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
  if (compilers_ == nullptr) {
    log::info("compile ahead: {} compile workers are started", options_.workers);
    compilers_ = options_.start();
  }
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
  const std::string why = compile_problem(seen);
  if (why.empty()) {
    trouble.in_a_row = 0;
    return;
  }
  log::info("compile ahead: a plan of {} was not prepared: {}", target, why);
  if (++trouble.in_a_row >= kMostFailures) {
    log::info("compile ahead: the next {} plans of {} are skipped", kLeftAlone, target);
    trouble.left_alone = kLeftAlone;
  }
  if (failures_.plans++ == 0) failures_.why = fmt::format("{}: {}", target, why);
}

void CompileAhead::stop() {
  compilers_.reset();
  open_.clear();
  over_.clear();
}

}  // namespace redzone::campaign
