#include "core/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "core/fd.h"

namespace redzone {
namespace {

// Runs in the child and uses only memory that was allocated before the fork. Returns only if the
// program cannot be executed.
void become(const ProgramStart& program, char* const* argv, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  ::setpgid(0, 0);
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (program.input >= 0) ::dup2(program.input, STDIN_FILENO);
  if (program.output >= 0) {
    ::dup2(program.output, STDOUT_FILENO);
    ::dup2(program.output, STDERR_FILENO);
  }
  if (program.passed_on >= 0) {
    ::close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
    ::fcntl(program.passed_on, F_SETFD, 0);
  }
  ::execvpe(argv[0], argv, program.environment == nullptr ? environ : program.environment);
}

}  // namespace

Result<ChildProcess> ChildProcess::start(ProgramStart program) {
  std::vector<char*> argv;
  argv.reserve(program.words.size() + 1);
  for (auto& word : program.words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int ends[2];  // carries errno if the program cannot be executed; nothing if it was
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return harness_error(fmt::format("{}: {}", program.words[0], std::strerror(errno)));
  const Fd read(ends[0]);
  Fd write(ends[1]);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) {
    become(program, argv.data(), parent);
    const int why = errno;
    [[maybe_unused]] const auto told = ::write(write.get(), &why, sizeof why);
    ::_exit(127);
  }
  if (pid < 0)
    return harness_error(
        fmt::format("{}: cannot fork: {}", program.words[0], std::strerror(errno)));
  write.reset();
  ChildProcess child(pid);
  int why = 0;
  ssize_t n = 0;
  while ((n = ::read(read.get(), &why, sizeof why)) < 0 && errno == EINTR) {
  }
  if (n == sizeof why) {
    child.wait();
    return harness_error(fmt::format("{}: {}", program.words[0], std::strerror(why)));
  }
  return child;
}

void ChildProcess::signal(int number) {
  if (!ended()) ::kill(pid_, number);
}

ChildProcess::ChildProcess(pid_t pid) : pid_(pid) {
  ::setpgid(pid, pid);  // as the child does: either of the two may run first
}

ChildProcess::~ChildProcess() {
  if (status_) return;
  ::kill(pid_, SIGKILL);  // the child may not have created its group yet
  wait();
}

std::optional<int> ChildProcess::poll(bool wait) {
  if (status_) return status_;
  siginfo_t info = {};
  const int how = WEXITED | WNOWAIT | (wait ? 0 : WNOHANG);
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, how) != 0)
    if (errno != EINTR) return status_ = 0xff00;  // another caller reaped it: its status is lost
  if (info.si_pid == 0) return std::nullopt;
  // A process that is not reaped keeps its number, so no other group can have it.
  ::kill(-pid_, SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  return status_ = status;
}

}  // namespace redzone
