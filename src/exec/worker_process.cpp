#include "exec/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "exec/child_environment.h"
#include "exec/oom_kills.h"
#include "exec/zygote.h"

namespace redzone::exec {

namespace {

constexpr int kOutputPipeBytes = 256 * 1024;

tl::unexpected<Error> system_error(const char* what) {
  return harness_error(fmt::format("{}: {}", what, std::strerror(errno)));
}

// Data that the child needs between fork and exec, prepared before the fork.
struct ChildSetup {
  std::vector<char*> argv, environment;
  ChildEnds ends;
  int null = -1;
  pid_t parent = -1;
};

// Runs in the child: uses only calls that are safe between fork and exec in a threaded process.
[[noreturn]] void become_worker(const ChildSetup& setup) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != setup.parent) ::_exit(127);
  ::setpgid(0, 0);
  struct sigaction by_default = {};
  by_default.sa_handler = SIG_DFL;
  for (int s = 1; s < NSIG; ++s) ::sigaction(s, &by_default, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  // Avoids core files of hundreds of planted crashes. A soft limit of 1 also keeps the kernel from
  // starting a crash collector, which 0 does not.
  struct rlimit core = {};
  if (::getrlimit(RLIMIT_CORE, &core) == 0) {
    core.rlim_cur = core.rlim_max < 1 ? core.rlim_max : 1;
    ::setrlimit(RLIMIT_CORE, &core);
  }
  ::dup2(setup.null, 0);
  ::dup2(setup.ends.output, 1);
  ::dup2(setup.ends.output, 2);
  ::close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
  ::fcntl(setup.ends.socket, F_SETFD, 0);
  ::fcntl(setup.ends.black_box, F_SETFD, 0);
  ::execve(setup.argv[0], setup.argv.data(), setup.environment.data());
  const char* reason = ::strerrordesc_np(errno);
  for (const char* part : {"cannot start ", static_cast<const char*>(setup.argv[0]), ": ",
                           reason != nullptr ? reason : "unknown error", "\n"})
    if (::write(2, part, std::strlen(part)) < 0) break;
  ::_exit(127);
}

Result<pid_t> start_program(const WorkerCommand& command, const ChildEnds& ends) {
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return system_error("cannot open /dev/null for a worker");
  std::vector<std::string> argv = command.argv;
  for (const auto& [flag, fd] :
       {std::pair{"--socket-fd", ends.socket}, std::pair{"--black-box-fd", ends.black_box}}) {
    argv.emplace_back(flag);
    argv.push_back(std::to_string(fd));
  }
  std::vector<std::string> variables = command.environment;
  ChildSetup setup{{}, environment_with(variables), ends, null.get(), ::getpid()};
  for (auto& a : argv) setup.argv.push_back(a.data());
  setup.argv.push_back(nullptr);

  // Signals are blocked, so that no handler of this process runs in the child.
  sigset_t all, before;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  const pid_t child = ::fork();
  if (child == 0) become_worker(setup);
  const int fork_errno = errno;
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (child < 0) {
    errno = fork_errno;
    return system_error("cannot fork a worker");
  }
  return child;
}

}  // namespace

WorkerProcess::WorkerProcess(SharedBox box, Fd socket, Fd output)
    : box_(std::move(box)),
      socket_(std::move(socket)),
      output_(std::move(output)),
      oom_kills_before_(oom_kills()) {}

Result<WorkerProcess> WorkerProcess::start(const WorkerCommand& command, Zygote* zygote) {
  RZ_CHECK(!command.argv.empty());
  auto box = SharedBox::create();
  if (!box) return tl::unexpected<Error>(box.error());

  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return system_error("cannot create a socket for a worker");
  Fd ours(ends[0]), theirs(ends[1]);
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    return system_error("cannot create a pipe for a worker");
  Fd output(ends[0]), output_end(ends[1]);
  ::fcntl(output.get(), F_SETPIPE_SZ, kOutputPipeBytes);  // the default size would do too

  WorkerProcess process(std::move(*box), std::move(ours), std::move(output));
  const ChildEnds child{theirs.get(), process.box_.fd(), output_end.get()};
  if (zygote != nullptr && zygote->is_ready()) {
    const auto forked = zygote->fork(child);
    // If the zygote forks later, the driver does not know the child, which finds these ends closed.
    if (!forked) return start(command, nullptr);
    process.pid_ = *forked;
  } else {
    RZ_TRY_ASSIGN(process.pid_, start_program(command, child));
  }
  ::setpgid(process.pid_, process.pid_);  // also here, because either process may run first
  process.exit_fd_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, process.pid_, 0)));
  return process;
}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : box_(std::move(other.box_)),
      socket_(std::move(other.socket_)),
      output_(std::move(other.output_)),
      exit_fd_(std::move(other.exit_fd_)),
      oom_kills_before_(other.oom_kills_before_),
      pid_(std::exchange(other.pid_, -1)),
      exit_(other.exit_) {}

WorkerProcess::~WorkerProcess() {
  if (pid_ < 0) return;
  signal_group(SIGKILL);
  // A process held in the kernel by the GPU driver may outlive this object; init reaps it.
  constexpr int kMostTries = 500;
  for (int i = 0; i < kMostTries && !poll_exit(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

std::optional<Exit> WorkerProcess::poll_exit() {
  if (exit_ || pid_ < 0) return exit_;
  siginfo_t info = {};
  if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
    // Another caller reaped the process: its status is lost, but it has ended.
    if (errno == ECHILD) exit_ = Exit{0, 255};
    return exit_;
  }
  if (info.si_pid == 0) return std::nullopt;
  // The group id cannot be reused before the process is reaped.
  ::kill(-pid_, SIGKILL);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  exit_ = WIFSIGNALED(status) ? Exit{WTERMSIG(status), 0} : Exit{0, WEXITSTATUS(status)};
  const auto kills = oom_kills();
  exit_->out_of_memory = exit_->signal == SIGKILL && (!kills || kills > oom_kills_before_);
  return exit_;
}

void WorkerProcess::signal_group(int signal) const {
  if (pid_ > 0 && !exit_) ::kill(-pid_, signal);
}

}  // namespace redzone::exec
