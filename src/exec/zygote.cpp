#include "exec/zygote.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include "core/log.h"
#include "exec/serve_forks.h"

namespace redzone::exec {
namespace {

constexpr std::chrono::milliseconds kAnswer{1000};

bool send_request(int zygote, const std::array<int, kForkDescriptors>& fds) {
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof fds)> control{};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fds);
  std::memcpy(CMSG_DATA(header), fds.data(), sizeof fds);
  return ::sendmsg(zygote, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

// True if the bytes of `value` arrive within kAnswer.
template <class Value>
bool receive(int zygote, Value& value) {
  const auto until = std::chrono::steady_clock::now() + kAnswer;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd wait{zygote, POLLIN, 0};
    const int ready = ::poll(&wait, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR) continue;
    // An answer is sent at once, so it arrives as a whole.
    return ready > 0 && ::recv(zygote, &value, sizeof value, MSG_DONTWAIT) == sizeof value;
  }
}

}  // namespace

Result<Zygote> Zygote::start(WorkerCommand command) {
  command.argv.emplace_back("--zygote");
  RZ_TRY_ASSIGN(auto process, WorkerProcess::start(command));
  return Zygote(std::move(process));
}

std::optional<pid_t> Zygote::fork(const ChildEnds& ends) {
  RZ_CHECK(ready_);
  std::int32_t child = -1;
  if (!send_request(socket_.get(), {ends.socket, ends.black_box, ends.output}) ||
      !receive(socket_.get(), child)) {
    give_up("did not answer");
    return std::nullopt;
  }
  if (is_child(child)) return child;
  give_up("could not be forked");
  return std::nullopt;
}

// The zygote's answer is not trusted, because signals are sent to the group with this id.
bool Zygote::is_child(pid_t pid) const {
  siginfo_t info = {};
  return pid > 1 && pid != process_.pid() &&
         ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

bool Zygote::is_ready() {
  if (ready_ || !socket_) return ready_;
  char byte = 0;
  const ssize_t n = ::recv(socket_.get(), &byte, 1, MSG_DONTWAIT);
  ready_ = n == 1 && byte == kZygoteIsReady;
  const bool comes = n < 0 && (errno == EAGAIN || errno == EINTR);
  if (!ready_ && !comes) give_up("ended before it could be forked");
  return ready_;
}

void Zygote::give_up(const char* why) {
  log::info("the process that forks workers {}: they are started as programs", why);
  ready_ = false;
  socket_.reset();
  process_.signal_group(SIGKILL);
}

}  // namespace redzone::exec
