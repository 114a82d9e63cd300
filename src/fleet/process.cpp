#include "fleet/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace redzone::fleet {
namespace {

// `output`: takes the place of standard output and standard error; -1: they stay.
Result<pid_t> spawn(std::vector<std::string> words, int output) {
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  if (output >= 0) {
    ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  }
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return harness_error(fmt::format("{}: {}", words[0], std::strerror(error)));
  return pid;
}

int status_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status_of(status);
}

}  // namespace

Result<Output> run_program(const std::vector<std::string>& words) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return harness_error(fmt::format("{}: {}", words[0], std::strerror(errno)));
  const auto pid = spawn(words, ends[1]);
  ::close(ends[1]);
  Output output;
  std::array<char, 4096> part;
  while (pid) {
    const ssize_t n = ::read(ends[0], part.data(), part.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    output.text.append(part.data(), static_cast<std::size_t>(n));
  }
  ::close(ends[0]);
  if (!pid) return tl::unexpected(pid.error());
  output.status = wait_for(*pid);
  return output;
}

Result<Child> Child::start(const std::vector<std::string>& words) {
  RZ_TRY_ASSIGN(const pid_t pid, spawn(words, -1));
  return Child(pid);
}

Child::~Child() {
  if (pid_ > 0) wait_for(pid_);
}

std::optional<int> Child::ended() {
  int status = 0;
  if (pid_ <= 0 || ::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  pid_ = -1;
  return status_of(status);
}

void Child::signal(int number) {
  if (pid_ > 0) ::kill(pid_, number);
}

}  // namespace redzone::fleet
