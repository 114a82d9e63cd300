#include "exec/worker_loop.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <exception>

#include "core/fd.h"
#include "core/log.h"
#include "exec/fault_attribution.h"
#include "exec/protocol.h"

namespace redzone::exec {

namespace {

// The worker's end of the socket; blocking.
class DriverLink {
 public:
  explicit DriverLink(int fd) : fd_(fd) {}

  void queue(const Message& message) {
    auto frame = encode(message);
    if (!frame) frame = encode(too_large(message, frame.error()));
    unsent_ += *frame;
  }
  // False if the driver is gone.
  bool flush() {
    for (std::size_t sent = 0; sent < unsent_.size();) {
      const ssize_t n = ::send(fd_, unsent_.data() + sent, unsent_.size() - sent, MSG_NOSIGNAL);
      if (n >= 0)
        sent += static_cast<std::size_t>(n);
      else if (errno != EINTR)
        return false;
    }
    unsent_.clear();
    return true;
  }
  // The next message; empty if the driver is gone.
  Result<std::optional<Message>> next() {
    char chunk[64 * 1024];
    for (;;) {
      auto message = reader_.next();
      if (!message || *message) return message;
      const ssize_t n = ::recv(fd_, chunk, sizeof chunk, 0);
      if (n > 0)
        reader_.append(chunk, static_cast<std::size_t>(n));
      else if (n == 0 || errno != EINTR)
        return std::nullopt;
    }
  }

 private:
  // Only a result can be too large: it is replaced by the reason.
  static Message too_large(const Message& message, const Error& error) {
    const auto& done = std::get<TrialDoneMessage>(message);
    return TrialDoneMessage{done.ticket, done.trial, done.device_lost, worker_error(error.message)};
  }

  int fd_;
  FrameReader reader_;
  std::string unsent_;
};

Observation run_guarded(TrialHost& host, const Plan& plan, const TrialSpec& trial) {
  try {
    return host.run(plan, trial);
  } catch (const std::exception& e) {
    return worker_error(fmt::format("the trial runner threw: {}", e.what()));
  }
}

void begin_marks(device::BlackBox& box, std::uint64_t ticket, std::int32_t trial) {
  box.phase = device::Phase::preparing;
  box.call_begun = box.call_ended = box.call_running = box.call_compared = -1;
  box.kernel[0] = '\0';
  box.fault = {};
  box.trial = trial;
  box.job = ticket;
}

bool run_job(DriverLink& link, TrialHost& host, device::BlackBox& box, const RunMessage& run) {
  for (std::uint32_t i = 0; i < run.trials.size(); ++i) {
    begin_marks(box, run.ticket, static_cast<std::int32_t>(i));
    TrialDoneMessage done{run.ticket, i, false, run_guarded(host, run.plan, run.trials[i])};
    done.device_lost = host.device_lost();
    const bool lost = done.device_lost;
    box.phase = device::Phase::reporting;
    link.queue(std::move(done));
    if (lost) {
      link.flush();
      ::_exit(kDeviceLostExit);
    }
    // The last result is sent together with JobDone.
    if (i + 1 < run.trials.size() && !link.flush()) return false;
  }
  box.phase = device::Phase::idle;
  link.queue(JobDoneMessage{run.ticket});
  return link.flush();
}

}  // namespace

int worker_loop(int fd, TrialHost& host, device::BlackBox& box) {
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);    // not inherited by programs that a target starts
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // set again, because a tool may run between the driver and
                                       // this process
  DriverLink link(fd);
  box.phase = device::Phase::starting;
  link.queue(HelloMessage{::getpid(), host.hello()});
  box.phase = device::Phase::idle;
  if (!link.flush()) return 0;
  for (;;) {
    auto message = link.next();
    if (!message) {
      log::warn("worker: the driver sent {}", message.error().message);
      return 3;
    }
    if (!*message || std::holds_alternative<QuitMessage>(**message)) return 0;
    const auto* run = std::get_if<RunMessage>(&**message);
    if (run == nullptr) {
      log::warn("worker: the driver sent a message for drivers");
      return 3;
    }
    if (!run_job(link, host, box, *run)) return 0;
  }
}

}  // namespace redzone::exec
