#include "exec/worker.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "core/check_failure.h"
#include "exec/protocol.h"

namespace redzone::exec {

std::unique_ptr<PendingJob> Worker::give(std::unique_ptr<PendingJob> job, Clock::time_point now) {
  job->sent_from = job->observations.size();
  std::vector<TrialSpec> rest(job->trials.begin() + std::ptrdiff_t(job->sent_from),
                              job->trials.end());
  auto frame = encode_run(job->ticket, *job->plan, rest);
  if (!frame) {
    job->fail(frame.error().message);
    return job;
  }
  if (queue.empty()) {
    last_heard = began = now;
    begin_output();
  }
  if (job->observations.empty()) {
    job->log = log;
    job->log_size = log->size();
  }
  log->push_back({job->plan, std::move(rest)});
  targets.insert(job->plan->target);
  queue.push_back(std::move(job));
  channel.send(std::move(*frame));
  return nullptr;
}

void Worker::leave(Clock::time_point now, std::chrono::milliseconds grace, bool orderly) {
  if (orderly) {
    channel.send(encode(QuitMessage{}).value());
  } else {
    process.signal_group(SIGTERM);
  }
  state = WorkerState::leaving;
  kill_at = now + grace;
}

bool Worker::began_trial() const {
  if (queue.empty() || queue.front()->complete()) return false;
  const auto marks = process.black_box();
  const PendingJob& job = *queue.front();
  return marks.job == job.ticket &&
         marks.trial == static_cast<std::int32_t>(job.observations.size() - job.sent_from);
}

std::chrono::milliseconds Worker::silence_limit() const {
  const PendingJob& job = *queue.front();
  switch (process.black_box().phase) {
    case device::Phase::comparing:
      return job.deadline * kReferenceDeadlines;
    case device::Phase::running:
    case device::Phase::checking:
    case device::Phase::destroying:
      return std::min(job.deadline, job.call_deadline);
    default:
      return job.deadline;
  }
}

Clock::time_point Worker::deadline() const {
  if (queue.empty()) return Clock::time_point::max();
  constexpr int kMostWaiting = 8;  // in deadlines
  const auto without = std::max(last_heard, last_progress) + silence_limit();
  if (last_look <= last_sign()) return without;
  return without + std::min<Clock::duration>(waited, kMostWaiting * silence_limit());
}

Clock::time_point Worker::next_look() const {
  constexpr int kLooksPerDeadline = 8;
  constexpr std::chrono::milliseconds kLongestBetween{200};
  if (queue.empty()) return Clock::time_point::max();
  return std::max(last_heard, last_look) +
         std::min(
             std::min(queue.front()->deadline, queue.front()->call_deadline) / kLooksPerDeadline,
             kLongestBetween);
}

// Stops a target that launches forever and so makes progress forever, and a worker that claims to
// compare forever. The time includes that of a reference for each call.
Clock::time_point Worker::last_deadline() const {
  constexpr std::size_t kMostDeadlines = 30;
  const PendingJob& job = *queue.front();
  const std::size_t compared = last_comparing > last_heard ? calls_of(*job.plan).size() : 0;
  return last_heard + job.deadline * (kMostDeadlines + compared * kReferenceDeadlines) + compiled();
}

Clock::duration Worker::compiled() const {
  return last_compiling > last_heard ? compiled_before : Clock::duration{};
}

void Worker::begin_output() {
  if (!output.holds(kCheckFailedText)) output.clear();
}

void Worker::hear(Clock::time_point now) {
  last_heard = now;
  // Signs of compilation in the trial that has ended do not count for the next one.
  compiling = process.black_box().compiling;
}

void Worker::hear_part(Clock::time_point now) {
  if (!queue.empty() && now < last_deadline()) last_progress = now;
}

bool Worker::shows_progress(Clock::time_point now) {
  const auto waited_before = std::exchange(waited_in_all, process.waited_for_processor());
  waited = last_look > last_sign() ? waited + waited_in_all - waited_before
                                   : std::chrono::nanoseconds(0);
  last_look = now;
  const device::BlackBox marks = process.black_box();
  if (marks.phase == device::Phase::comparing) last_comparing = now;
  if (std::exchange(compiling, marks.compiling) != marks.compiling) {
    const bool goes_on = last_compiling > last_heard && now - last_compiling <= kBetweenSigns;
    const Clock::duration longer = goes_on ? now - last_compiling : Clock::duration{};
    compiled_before = std::min<Clock::duration>(compiled() + longer, kLongestCompilation);
    last_compiling = now;
  }
  if (now >= last_deadline()) return false;
  const std::uint64_t seen = marks.progress;
  if (std::exchange(progress, seen) == seen) return false;
  last_progress = now;
  return true;
}

TrialContext Worker::trial_context() const {
  const PendingJob& job = *queue.front();
  const TrialSpec& trial = job.trials[job.observations.size()];
  return {trial.mode.launch, static_cast<std::int32_t>(calls_of(*job.plan).size()),
          job.plan->target,
          trial.mode.sanitizer != SanitizerTool::none && !is_check(trial.mode.sanitizer)};
}

}  // namespace redzone::exec
