#include "target/probe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "core/child_process.h"
#include "core/fd.h"
#include "target/plugin.h"
#include "target/spec_check.h"

namespace redzone {
namespace {

using Clock = std::chrono::steady_clock;

// A record on the pipe, one for each plugin: its length, then the error message; length 0 if the
// plugin loaded.
using RecordLength = std::uint32_t;

void write_all(int fd, const void* data, std::size_t bytes) {
  const char* p = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t n = ::write(fd, p, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) ::_exit(EXIT_FAILURE);
    p += n;
    bytes -= static_cast<std::size_t>(n);
  }
}

void write_record(int out, const std::string& message) {
  const auto length = static_cast<RecordLength>(message.size());
  write_all(out, &length, sizeof length);
  write_all(out, message.data(), message.size());
}

// A problem with the plugin, its targets, or a function of their specs; "" if there is none.
std::string plugin_problem(const std::filesystem::path& plugin,
                           const std::shared_ptr<SpecWatch>& watch) {
  const auto loaded = load_plugin(plugin);
  if (!loaded) return loaded.error().message;
  for (const auto& target : loaded->targets)
    if (auto checked = check_spec(target.spec, "plugin " + plugin.string(), watch); !checked)
      return checked.error().message;
  return {};
}

[[noreturn]] void run_child(int out, pid_t parent, std::span<const std::filesystem::path> plugins,
                            std::chrono::milliseconds deadline) {
  // A plugin that hangs must not outlive a driver that was killed.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(EXIT_FAILURE);
  ::setpgid(0, 0);
  // The handlers of the parent would report a crash as the parent's.
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  if (const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC); null >= 0) {
    ::dup2(null, STDOUT_FILENO);
    ::dup2(null, STDERR_FILENO);
  }
  for (const auto& plugin : plugins) {
    // Expires before the parent's deadline, because the parent cannot name the function.
    const auto limit = deadline / 2;
    const auto watch = std::make_shared<SpecWatch>(limit, [&](const std::string& function) {
      write_record(out, fmt::format("plugin {}: {} has not returned for {} ms", plugin.string(),
                                    function, limit.count()));
      ::_exit(EXIT_SUCCESS);
    });
    write_record(out, plugin_problem(plugin, watch));
  }
  ::_exit(EXIT_SUCCESS);  // skips the destructors of plugins
}

enum class ReadEnd { complete, closed, late, stopped };

constexpr std::int64_t kAskMs = 100;  // interval at which `stop` is called

ReadEnd read_all(int fd, void* data, std::size_t bytes, Clock::time_point until,
                 const std::function<bool()>& stop) {
  char* p = static_cast<char*>(data);
  while (bytes > 0) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) return ReadEnd::late;
    if (stop && stop()) return ReadEnd::stopped;
    pollfd entry{fd, POLLIN, 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(std::min(left, kAskMs)));
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    if (ready < 0) return ReadEnd::late;
    const ssize_t n = ::read(fd, p, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return ReadEnd::closed;
    p += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return ReadEnd::complete;
}

// "SIGSEGV"; the number if it has no name.
std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

std::string death(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("killed by {} while loading", signal_name(WTERMSIG(status)));
  return fmt::format("exited with code {} while loading", WEXITSTATUS(status));
}

}  // namespace

Result<void> probe_plugins(std::span<const std::filesystem::path> plugins,
                           std::chrono::milliseconds deadline, const std::function<bool()>& stop) {
  if (plugins.empty()) return {};
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return harness_error(fmt::format("cannot make a pipe: {}", ::strerror(errno)));
  Fd in(ends[0]), out(ends[1]);
  std::fflush(nullptr);  // otherwise a plugin that calls exit() writes the buffers of this process
                         // a second time
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) {
    in.reset();
    run_child(out.get(), parent, plugins, deadline);
  }
  out.reset();
  if (pid < 0) return harness_error(fmt::format("cannot fork: {}", ::strerror(errno)));
  ChildProcess child(pid);

  for (const auto& plugin : plugins) {
    const auto until = Clock::now() + deadline;
    RecordLength length = 0;
    auto end = read_all(in.get(), &length, sizeof length, until, stop);
    std::string message;
    if (end == ReadEnd::complete) {
      message.resize(length);
      end = read_all(in.get(), message.data(), length, until, stop);
    }
    if (end == ReadEnd::complete && message.empty()) continue;
    if (end == ReadEnd::complete) return usage_error(std::move(message));
    if (end == ReadEnd::stopped)
      return harness_error(
          fmt::format("plugin {}: interrupted before it was loaded", plugin.string()));
    if (end == ReadEnd::closed)
      return usage_error(fmt::format("plugin {}: {}", plugin.string(), death(child.wait())));
    return usage_error(
        fmt::format("plugin {}: did not load within {} ms", plugin.string(), deadline.count()));
  }
  return {};
}

}  // namespace redzone
