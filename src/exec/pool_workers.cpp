#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <csignal>
#include <type_traits>
#include <variant>

#include "core/log.h"
#include "core/observation_check.h"
#include "exec/pool.h"

namespace redzone::exec {

namespace {

constexpr int kMostLostStarts = 3;  // for one job
constexpr std::chrono::milliseconds kFirstBackoff{50}, kLongestBackoff{5000};
// Polling interval for the end of a process, for kernels without a descriptor for it.
constexpr std::chrono::milliseconds kAskForEnd{10};

std::uint64_t microseconds(Clock::duration d) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(d).count());
}

timespec to_timespec(Clock::duration d) {
  const auto ns =
      std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::nanoseconds>(d).count());
  return {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
}

// "fault SIGSEGV", "worker-error: the worker sent ..."
std::string ending(const Observation& o) {
  std::string out(name_of(o.end));
  if (o.fault) out += " " + o.fault->code;
  if (!o.message.empty()) out += ": " + o.message;
  return out;
}

// Why a worker is lost; `last_trial`: the observation of the trial that ended it.
std::string why_lost(const Worker& worker, const std::optional<Observation>& last_trial) {
  if (last_trial) return ending(*last_trial);
  if (worker.queue.empty()) return "it ended while it was idle";
  const PendingJob& job = *worker.queue.front();
  if (job.observations.size() == job.sent_from) return "it ended before its trial began";
  const std::string last = ending(job.observations.back());
  return fmt::format("behind trial {} of {}, which ended with {}", job.observations.size() - 1,
                     job.plan->target, last);
}

void drain_output(Worker& worker) {
  const int fd = worker.process.output_fd();
  if (fd >= 0 && !worker.output.drain(fd)) worker.process.close_output();
}

}  // namespace

std::size_t Pool::count(WorkerState state) const {
  return static_cast<std::size_t>(
      std::count_if(workers_.begin(), workers_.end(),
                    [&](const auto& worker) { return worker->state == state; }));
}

bool Pool::hopeless() const {
  return failed_starts_ >= options_.most_failed_starts && count(WorkerState::starting) == 0 &&
         count(WorkerState::spare) == 0;
}

void Pool::step(Clock::time_point until) {
  auto now = Clock::now();
  if (!stopped_) {
    replenish(now);
    dispatch(now);
    if (hopeless()) fail_waiting(start_problem_);
    if (!results_.empty()) until = now;
  }
  wait_for_events(until);
  now = Clock::now();
  for (auto& worker : workers_) {
    check_end(*worker, now);
    check_clocks(*worker, now);
  }
  std::erase_if(workers_, [](const auto& worker) { return worker->ended; });
  if (!stopped_) {
    replenish(now);
    dispatch(now);
  }
}

Clock::time_point Pool::next_timer(const Worker& worker) const {
  auto at = worker.kill_at;
  if (worker.process.exit_fd() < 0) at = std::min(at, Clock::now() + kAskForEnd);
  if (worker.state == WorkerState::leaving) return at;
  if (worker.state == WorkerState::starting)
    at = std::min(at, worker.started + options_.start_deadline);
  if (worker.closed_at) at = std::min(at, *worker.closed_at + options_.close_grace);
  return std::min({at, worker.deadline(), worker.next_look()});
}

void Pool::wait_for_events(Clock::time_point until) {
  constexpr std::size_t kFdsEach = 3;
  std::vector<pollfd> fds;
  fds.reserve(workers_.size() * kFdsEach);
  const auto began = Clock::now();
  for (const auto& worker : workers_) {
    until = std::min(until, next_timer(*worker));
    if (has_turn(*worker, began)) until = std::min(until, end_of_turn(*worker));
    const bool talks = worker->state != WorkerState::leaving && !worker->channel.closed();
    const short wanted = worker->channel.wants_write() ? POLLIN | POLLOUT : POLLIN;
    fds.push_back({worker->process.exit_fd(), POLLIN, 0});
    fds.push_back({worker->process.output_fd(), POLLIN, 0});
    fds.push_back({talks ? worker->channel.fd() : -1, wanted, 0});
  }
  if (next_start_ > Clock::now()) until = std::min(until, next_start_);
  const timespec wait = to_timespec(until - Clock::now());
  if (::ppoll(fds.data(), fds.size(), &wait, nullptr) <= 0) return;

  const auto now = Clock::now();
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    Worker& worker = *workers_[i];
    const pollfd* of_worker = &fds[i * kFdsEach];
    worker.may_have_ended = of_worker[0].revents != 0;
    if (of_worker[1].revents != 0) drain_output(worker);
    if (of_worker[2].revents & POLLOUT) worker.channel.flush();
    if (of_worker[2].revents & ~POLLOUT) read_messages(worker, now);
  }
}

// True if bytes arrived.
bool Pool::read_messages(Worker& worker, Clock::time_point now) {
  const bool heard = worker.channel.receive();
  if (heard) worker.hear_part(now);
  while (worker.state != WorkerState::leaving) {
    auto message = worker.channel.next();
    if (message && !*message) break;
    worker.hear(now);
    std::optional<std::string> problem;
    if (message)
      problem = accept_any(worker, std::move(**message), now);
    else
      problem = "the worker sent " + message.error().message;
    if (problem && worker.state == WorkerState::starting) {
      failed_start(worker.started, *problem, now);
      worker.leave(now, options_.term_grace, false);
    } else if (problem) {
      lose(worker, worker_error(*problem), now);
    }
  }
  if (worker.channel.closed() && !worker.closed_at) worker.closed_at = now;
  return heard;
}

std::optional<std::string> Pool::accept_any(Worker& worker, Message message,
                                            Clock::time_point now) {
  return std::visit(
      [&](auto& sent) -> std::optional<std::string> {
        using Sent = std::remove_cvref_t<decltype(sent)>;
        if constexpr (std::is_same_v<Sent, RunMessage> || std::is_same_v<Sent, QuitMessage>)
          return "the worker sent a message for workers";
        else
          return accept(worker, std::move(sent), now);
      },
      message);
}

std::optional<std::string> Pool::accept(Worker& worker, HelloMessage hello, Clock::time_point now) {
  if (worker.state != WorkerState::starting) return "the worker sent Hello twice";
  log::debug("{} {} is up", options_.what, worker.process.pid());
  hello_ = std::move(hello.hello);
  worker.state = WorkerState::spare;
  ++stats_.workers_up;
  stats_.latest_start = std::chrono::duration_cast<std::chrono::milliseconds>(now - worker.started);
  return std::nullopt;
}

std::optional<std::string> Pool::accept(Worker& worker, TrialDoneMessage done,
                                        Clock::time_point now) {
  PendingJob* const job = worker.queue.empty() ? nullptr : worker.queue.front().get();
  if (job == nullptr || done.ticket != job->ticket || job->complete() ||
      done.trial != job->observations.size() - job->sent_from)
    return fmt::format("the worker sent a result of trial {} of job {} which it was not running",
                       done.trial, done.ticket);
  if (const auto problem = observation_problem(done.observation, calls_of(*job->plan).size()))
    return fmt::format("the worker sent an impossible result of trial {}: {}", done.trial,
                       *problem);
  // A device-side assertion prints its condition to the output.
  if (done.device_lost && done.observation.fault) {
    drain_output(worker);
    std::string& detail = done.observation.fault->detail;
    if (const std::string printed = worker.output.text(); !printed.empty())
      detail += (detail.empty() ? "" : "; it printed:\n") + printed;
  }
  job->observations.push_back(std::move(done.observation));
  if (log::shows(log::Level::debug)) {
    const Observation& o = job->observations.back();
    log::debug("{} {}: trial {} of {} ended with {} in {} us, {} mapping calls", options_.what,
               worker.process.pid(), job->observations.size() - 1, job->plan->target, ending(o),
               o.wall_us, o.mapping_calls);
  }
  ++stats_.trials;
  worker.proven = true;
  failed_starts_ = 0;
  worker.begin_output();
  if (done.device_lost) lose(worker, std::nullopt, now);
  return std::nullopt;
}

std::optional<std::string> Pool::accept(Worker& worker, JobDoneMessage done,
                                        Clock::time_point now) {
  PendingJob* const job = worker.queue.empty() ? nullptr : worker.queue.front().get();
  if (job == nullptr || done.ticket != job->ticket || !job->complete())
    return fmt::format(
        "the worker sent the end of job {}, which it does not have or has not completed",
        done.ticket);
  finish(std::move(worker.queue.front()));
  worker.queue.pop_front();
  if (!worker.queue.empty()) return std::nullopt;
  const bool used_up = worker.log->size() >= options_.recycle_after_plans;
  worker.held_up = false;
  // Another worker took its place while it was held up.
  const bool is_replaced = worker.state == WorkerState::warm && usable_warm() > options_.workers;
  if (worker.state == WorkerState::fresh && may_keep(worker, now)) worker.state = WorkerState::used;
  if (used_up)
    log::info("{} {} has run {} plans and is replaced", options_.what, worker.process.pid(),
              worker.log->size());
  if (worker.state == WorkerState::fresh || used_up || is_replaced)
    worker.leave(now, options_.quit_grace, true);
  return std::nullopt;
}

void Pool::check_end(Worker& worker, Clock::time_point now) {
  if (worker.ended || (!worker.may_have_ended && worker.process.exit_fd() >= 0)) return;
  const auto exit = worker.process.poll_exit();
  if (!exit) return;
  // Messages that the worker sent before its end count. The number of reads is limited, because a
  // child of the worker may hold the socket and keep writing.
  constexpr int kMostReads = 128;
  for (int i = 0; i < kMostReads && worker.state != WorkerState::leaving; ++i)
    if (!read_messages(worker, now)) break;
  worker.ended = true;
  if (worker.state == WorkerState::leaving) return;
  drain_output(worker);

  const std::string output = worker.output.text();
  if (!worker.proven && !worker.began_trial())
    failed_start(worker.started,
                 fmt::format("a worker {} before its first trial{}{}", describe(*exit),
                             output.empty() ? "" : ": ", output),
                 now);
  if (worker.state == WorkerState::starting || worker.state == WorkerState::spare) {
    worker.state = WorkerState::leaving;
    return;
  }
  std::optional<Observation> last_trial;
  if (worker.began_trial())
    last_trial = observe_exit(*exit, worker.process.black_box(), worker.trial_context(), output);
  lose(worker, std::move(last_trial), now);
}

void Pool::check_clocks(Worker& worker, Clock::time_point now) {
  if (worker.ended) return;
  if (worker.state == WorkerState::leaving) {
    if (now < worker.kill_at) return;
    worker.process.signal_group(SIGKILL);
    worker.kill_at = Clock::time_point::max();
    return;
  }
  if (worker.state == WorkerState::starting) {
    const bool gone = worker.closed_at && now >= *worker.closed_at + options_.close_grace;
    if (!gone && now < worker.started + options_.start_deadline) return;
    failed_start(worker.started,
                 fmt::format("a worker {}: {}",
                             gone ? "closed its socket before it sent Hello"
                                  : fmt::format("did not send Hello within {} ms",
                                                options_.start_deadline.count()),
                             worker.output.text()),
                 now);
    worker.leave(now, options_.term_grace, false);
    return;
  }
  if (worker.closed_at) {
    if (now < *worker.closed_at + options_.close_grace) return;
    const char* where = worker.channel.mid_frame() ? " in the middle of a message" : "";
    lose(worker,
         worker_error(fmt::format("the worker closed its socket{} but is still running", where)),
         now);
    return;
  }
  if (now >= worker.next_look()) worker.shows_progress(now);
  tell_compiling(worker);
  // Messages were read immediately before, so a pause of the driver does not count.
  worker.held_up = options_.held_up_after != std::chrono::milliseconds::max() &&
                   worker.state == WorkerState::warm && !worker.queue.empty() &&
                   now - worker.last_sign() >= options_.held_up_after;
  if (now < worker.deadline() || worker.shows_progress(now) || now < worker.deadline()) return;
  std::optional<Observation> last_trial;
  if (worker.began_trial())
    last_trial =
        observe_hang(worker.process.black_box(), worker.trial_context(), worker.silence_limit());
  lose(worker, std::move(last_trial), now);
}

void Pool::tell_compiling(const Worker& worker) {
  constexpr std::chrono::seconds kWorthTelling{2};
  const auto time = worker.compiled();
  if (!options_.compiles || worker.queue.empty() || time < kWorthTelling) return;
  const std::string& target = worker.queue.front()->plan->target;
  if (told_to_compile_.insert(target).second)
    options_.compiles(target, std::chrono::duration_cast<std::chrono::milliseconds>(time));
}

// Ends the worker. Its current trial gets the observation `last_trial`, if any; its other jobs are
// queued again, or returned to the caller (Job::back_at_loss).
void Pool::lose(Worker& worker, std::optional<Observation> last_trial, Clock::time_point now) {
  if (log::shows(log::Level::info))
    log::info("{} {} is lost: {}", options_.what, worker.process.pid(),
              why_lost(worker, last_trial));
  ++stats_.workers_lost;
  const bool was_warm = worker.state == WorkerState::warm;
  worker.leave(now, options_.term_grace, false);
  if (was_warm && vacancies_.size() < missing_warm()) vacancies_.push_back(now);
  auto jobs = std::exchange(worker.queue, {});
  if (!jobs.empty() && !jobs.front()->complete()) {
    PendingJob& job = *jobs.front();
    if (last_trial) {
      // The worker cannot report the time. Measure until the loss was noticed, which includes the
      // end of the process.
      last_trial->wall_us = microseconds(now - worker.last_heard);
      job.observations.push_back(std::move(*last_trial));
      ++stats_.trials;
      failed_starts_ = 0;
    } else if (job.observations.size() == job.sent_from && ++job.lost_starts >= kMostLostStarts) {
      job.fail(fmt::format("{} workers ended before they began the trial{}{}", job.lost_starts,
                           start_problem_.empty() ? "" : "; the last problem: ", start_problem_));
    }
    job.end_behind_loss();
  }
  if (!jobs.empty() && jobs.front()->killed_worker()) ++jobs.front()->lost_workers;
  for (std::size_t i = 1; i < jobs.size(); ++i)
    if (jobs[i]->back_at_loss && jobs[i]->observations.empty() && jobs.front()->killed_worker() &&
        jobs[i]->plan->target == jobs.front()->plan->target)
      jobs[i]->trials.clear();
  for (; !jobs.empty(); jobs.pop_back()) {
    auto& job = jobs.back();
    if (job->complete())
      finish(std::move(job));
    else if (job->fresh)
      waiting_fresh_.push_front(std::move(job));
    else
      waiting_.push_front(std::move(job));
  }
}

// Workers that fail at the same time count once, because the number of attempts matters.
void Pool::failed_start(Clock::time_point started, std::string reason, Clock::time_point now) {
  start_problem_ = std::move(reason);
  log::info("{}: cannot be started: {}", options_.what, start_problem_);
  if (started < last_failed_start_) return;
  ++failed_starts_;
  last_failed_start_ = now;
  const int doublings = std::min(failed_starts_ - 1, 7);
  next_start_ = now + std::min(kFirstBackoff * (1 << doublings), kLongestBackoff);
}

std::size_t Pool::replaceable() const {
  const auto held_up = std::count_if(workers_.begin(), workers_.end(), [&](const auto& worker) {
    return is_lasting(*worker) && worker->held_up;
  });
  return std::min(static_cast<std::size_t>(held_up), options_.workers);
}

bool Pool::is_lasting(const Worker& worker) const {
  return worker.state == WorkerState::warm && worker.log->size() < options_.recycle_after_plans;
}

std::size_t Pool::usable_warm() const {
  const auto lasting = std::count_if(workers_.begin(), workers_.end(),
                                     [&](const auto& worker) { return is_lasting(*worker); });
  return static_cast<std::size_t>(lasting) - replaceable();
}

std::size_t Pool::max_in_flight() const {
  return (options_.workers + replaceable()) * options_.jobs_per_worker;
}

bool Pool::promote_spare(Clock::time_point now) {
  Worker* spare = idle_spare(Queues::several);
  if (spare == nullptr || missing_warm() == 0) return false;
  spare->state = WorkerState::warm;
  warm_is_next_ = false;
  if (vacancies_.empty()) return true;
  if (!waiting_.empty()) stats_.fault_wait_us += microseconds(now - vacancies_.front());
  vacancies_.pop_front();
  return true;
}

void Pool::replenish(Clock::time_point now) {
  std::size_t wanted = options_.spares + missing_warm();
  if (wanted == 0 && !waiting_fresh_.empty()) wanted = 1;
  for (;;) {
    const std::size_t coming = count(WorkerState::starting);
    if (coming + count(WorkerState::spare) >= wanted || coming >= options_.most_starting) return;
    // After a failed start, start one worker at a time with growing pauses.
    if (failed_starts_ > 0 && (coming > 0 || now < next_start_)) return;
    start_worker(queues_to_start(), now);
  }
}

// Jobs with Job::will_lose do not use workers that other jobs use, so a part of the places is for
// workers that survived such a job. A worker with several queues replaces a kept worker with a
// single queue, because it can run every job.
bool Pool::may_keep(const Worker& worker, Clock::time_point now) {
  const std::size_t for_losing =
      options_.most_used > 1 ? std::max<std::size_t>(options_.most_used / 4, 1) : 0;
  const std::size_t places =
      worker.may_be_lost && for_losing > 0 ? for_losing : options_.most_used - for_losing;
  const auto is_alike = [&](const auto& other) {
    return other->state == WorkerState::used &&
           (for_losing == 0 || other->may_be_lost == worker.may_be_lost);
  };
  const auto kept = std::count_if(workers_.begin(), workers_.end(), is_alike);
  if (static_cast<std::size_t>(kept) < places) return true;
  const auto other = std::find_if(workers_.begin(), workers_.end(), [&](const auto& candidate) {
    return is_alike(candidate) && candidate->queues == Queues::one;
  });
  if (other == workers_.end() || worker.queues == Queues::one) return false;
  (*other)->leave(now, options_.quit_grace, true);
  return true;
}

Queues Pool::queues_to_start() const {
  if (!options_.one_queue) return Queues::several;
  const auto coming = std::count_if(workers_.begin(), workers_.end(), [](const auto& worker) {
    return worker->queues == Queues::several &&
           (worker->state == WorkerState::starting || worker->state == WorkerState::spare);
  });
  const auto with_one =
      static_cast<std::ptrdiff_t>(count(WorkerState::starting) + count(WorkerState::spare)) -
      coming;
  const auto for_one =
      std::count_if(waiting_fresh_.begin(), waiting_fresh_.end(),
                    [](const auto& job) { return job->one_queue && job->reuse != Reuse::any; });
  const auto others = std::count_if(waiting_fresh_.begin(), waiting_fresh_.end(),
                                    [](const auto& job) { return !job->one_queue; });
  if (coming < static_cast<std::ptrdiff_t>(missing_warm()) + others + 1) return Queues::several;
  if (with_one < for_one) return Queues::one;
  return coming < static_cast<std::ptrdiff_t>(options_.spares) / 2 ? Queues::several : Queues::one;
}

void Pool::start_worker(Queues queues, Clock::time_point now) {
  const bool one = queues == Queues::one;
  auto process = one ? WorkerProcess::start(*options_.one_queue)
                     : WorkerProcess::start(options_.command, zygote());
  if (process) {
    log::info("{} {} is started{}", options_.what, process->pid(), one ? " with one queue" : "");
    workers_.push_back(std::make_unique<Worker>(std::move(*process), queues, now));
    ++stats_.workers_started;
    return;
  }
  failed_start(now, process.error().message, now);
}

// The zygote, started once enough workers were started for it to pay; null without a zygote.
Zygote* Pool::zygote() {
  constexpr std::uint64_t kPaysAfter = 4;
  if (!options_.has_zygote || stats_.workers_started < kPaysAfter) return nullptr;
  if (!zygote_) {
    auto started = Zygote::start(options_.command);
    if (!started) return nullptr;  // the worker that is started instead reports the reason
    zygote_.emplace(std::move(*started));
  }
  return &*zygote_;
}

}  // namespace redzone::exec
