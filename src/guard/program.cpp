#include "guard/program.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>

#include "core/preload.h"

namespace redzone::guard {
namespace {

namespace fs = std::filesystem;

constexpr int kMostInterpreters = 4;  // of nested scripts, as the kernel allows

tl::unexpected<Refusal> refuse(int exit_code, std::string why) {
  return tl::unexpected<Refusal>(Refusal{exit_code, std::move(why)});
}

bool is_runnable_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

// The first `bytes` bytes of a file, or all if it is shorter.
std::string head_of(const fs::path& file, std::size_t bytes) {
  std::string out(bytes, '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(out.data(), static_cast<std::streamsize>(bytes));
  out.resize(static_cast<std::size_t>(in.gcount()));
  return out;
}

// Explains why nothing can be preloaded into the ELF file; "" if preloading works or the file is
// not an ELF file.
std::string elf_problem(const std::string& head) {
  Elf64_Ehdr header;
  if (head.size() < sizeof header || std::memcmp(head.data(), ELFMAG, SELFMAG) != 0) return {};
  std::memcpy(&header, head.data(), sizeof header);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64)
    return "it is not a program for x86-64";
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    const std::uint64_t at = header.e_phoff + i * sizeof segment;
    if (at > head.size() || head.size() - at < sizeof segment) break;
    std::memcpy(&segment, head.data() + at, sizeof segment);
    if (segment.p_type == PT_INTERP) return {};
  }
  return "it is statically linked, so nothing can be preloaded";
}

// Returns "/usr/bin/env" for "#!/usr/bin/env python3".
std::string first_interpreter(const std::string& head) {
  if (!head.starts_with("#!")) return {};
  std::istringstream line(head.substr(2, head.find('\n') - 2));
  std::string word;
  line >> word;
  return word;
}

std::string preload_problem(const fs::path& program, int depth = 0) {
  struct stat status = {};
  if (::stat(program.c_str(), &status) != 0) return {};
  if ((status.st_mode & S_ISUID) != 0 && status.st_uid != ::geteuid())
    return "it gets the rights of another user, so nothing can be preloaded";
  if ((status.st_mode & S_ISGID) != 0 && status.st_gid != ::getegid())
    return "it gets the rights of another group, so nothing can be preloaded";
  if (::geteuid() != 0 && ::getxattr(program.c_str(), "security.capability", nullptr, 0) > 0)
    return "it gets rights of its own, so nothing can be preloaded";
  constexpr std::size_t most_headers = 64 * 1024;
  const std::string head = head_of(program, most_headers);
  if (const std::string interpreter = first_interpreter(head);
      !interpreter.empty() && depth < kMostInterpreters)
    return preload_problem(interpreter, depth + 1);
  return elf_problem(head);
}

// A pipe for errors of the child before the program runs. A successful exec() closes it.
class ErrorPipe {
 public:
  ErrorPipe() { open_ = ::pipe2(ends_.data(), O_CLOEXEC) == 0; }
  ~ErrorPipe() {
    close(0);
    close(1);
  }
  ErrorPipe(const ErrorPipe&) = delete;
  ErrorPipe& operator=(const ErrorPipe&) = delete;

  bool is_open() const { return open_; }
  void close(std::size_t end) {
    if (open_ && ends_[end] >= 0) ::close(std::exchange(ends_[end], -1));
  }
  // Called in the child.
  void send(int error) { [[maybe_unused]] const auto n = ::write(ends_[1], &error, sizeof error); }
  // Waits until the child runs the program. Returns 0 or the child's error.
  int receive() {
    close(1);
    int error = 0;
    ssize_t n = 0;
    do n = ::read(ends_[0], &error, sizeof error);
    while (n < 0 && errno == EINTR);
    return n == static_cast<ssize_t>(sizeof error) ? error : 0;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
  bool open_ = false;
};

[[noreturn]] void become(const Launch& launch, const sigset_t& mask, ErrorPipe& errors) {
  std::vector<char*> words;
  words.reserve(launch.started.argv.size() + 1);
  for (const auto& word : launch.started.argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  char settings[interpose::kSettingsTextBytes];
  interpose::format_settings(launch.settings, settings);
  const bool here = launch.started.folder.empty();
  const std::string before = foreign_preload(launch.started);
  if (!here) {
    for (const auto& name : decisive_variables(launch.started)) ::unsetenv(name.c_str());
    for (const auto& [name, value] : launch.started.environment)
      ::setenv(name.c_str(), value.c_str(), 1);
  }
  const std::string preload = preload_before(launch.library, before);
  for (const auto& [name, value] : launch.environment) ::setenv(name.c_str(), value.c_str(), 1);
  if ((here || ::chdir(launch.started.folder.c_str()) == 0) &&
      ::setenv("LD_PRELOAD", preload.c_str(), 1) == 0 &&
      ::setenv(interpose::kFolderVariable, launch.folder.c_str(), 1) == 0 &&
      ::setenv(interpose::kSettingsVariable, settings, 1) == 0 &&
      (launch.standard_input == STDIN_FILENO || ::dup2(launch.standard_input, STDIN_FILENO) >= 0) &&
      (launch.standard_error == STDERR_FILENO ||
       ::dup2(launch.standard_error, STDERR_FILENO) >= 0) &&
      (launch.standard_output == STDOUT_FILENO ||
       ::dup2(launch.standard_output, STDOUT_FILENO) >= 0)) {
    ::sigprocmask(SIG_SETMASK, &mask, nullptr);
    ::execv(launch.program.c_str(), words.data());
  }
  errors.send(errno);
  ::_exit(kCannotGuard);
}

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kGrace{2000};

// The time and number of the next signal for a child that takes too long.
struct Deadline {
  std::optional<Clock::time_point> at;
  int signal = SIGTERM;

  // Waits for a signal or the deadline. Returns the result of sigwaitinfo().
  int wait(const sigset_t& signals, siginfo_t& got) const {
    if (!at) return ::sigwaitinfo(&signals, &got);
    const auto left = std::max(*at - Clock::now(), Clock::duration::zero());
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    timespec time{};
    time.tv_sec = seconds.count();
    time.tv_nsec = std::chrono::duration_cast<std::chrono::nanoseconds>(left - seconds).count();
    return ::sigtimedwait(&signals, &got, &time);
  }
  bool is_over() const { return at && Clock::now() >= *at; }
};

// Forwards signals to the child until it has ended.
Ended wait_for(pid_t child, const sigset_t& signals,
               const std::optional<std::chrono::milliseconds>& limit) {
  Ended out;
  Deadline deadline;
  if (limit) deadline.at = Clock::now() + *limit;
  while (true) {
    siginfo_t got = {};
    const int number = deadline.wait(signals, got);
    if (number == SIGCHLD || number < 0) {
      int status = 0;
      if (::waitpid(child, &status, WNOHANG) == child) {
        out.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        out.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        return out;
      }
    } else {
      if (number != SIGUSR1 && number != SIGUSR2) out.passed_on = number;
      if (got.si_code != SI_KERNEL) ::kill(child, number);
    }
    if (!deadline.is_over()) continue;
    out.over_time = true;
    ::kill(child, std::exchange(deadline.signal, SIGKILL));
    deadline.at = Clock::now() + kGrace;
  }
}

// The value of a variable in the program's environment; nullptr if it is not set.
const char* value_of(const Started& started, const char* name) {
  if (started.folder.empty()) return std::getenv(name);
  for (const auto& variable : started.environment)
    if (variable.name == name) return variable.value.c_str();
  return nullptr;
}

}  // namespace

std::string interpreter_of(const fs::path& script) {
  constexpr std::size_t most_line = 512;
  const std::string head = head_of(script, most_line);
  std::string first = first_interpreter(head);
  if (fs::path(first).filename() != "env") return first;
  std::istringstream line(head.substr(2, head.find('\n') - 2));
  std::string word;
  line >> word >> word;
  return word;
}

std::string variable_of(const Started& started, const char* name) {
  const char* const text = value_of(started, name);
  return text == nullptr ? "" : text;
}

std::string foreign_preload(const Started& started) {
  return variable_of(started, "LD_PRELOAD");
}

tl::expected<fs::path, Refusal> find_program(const Started& started) {
  const std::string& name = started.argv.front();
  const fs::path at = started.folder;
  if (std::error_code error; !at.empty() && !fs::is_directory(at, error))
    return refuse(kCannotGuard, fmt::format("the folder {} is not there", at.string()));
  if (name.empty()) return refuse(kNotFound, "the name of the program is empty");
  std::vector<fs::path> candidates;
  if (name.find('/') != std::string::npos) {
    candidates.push_back(at / name);
  } else {
    const char* const text = value_of(started, "PATH");
    std::istringstream folders(text == nullptr ? "/usr/local/bin:/usr/bin:/bin" : text);
    for (std::string folder; std::getline(folders, folder, ':');)
      candidates.push_back(at / fs::path(folder.empty() ? "." : folder) / name);
  }
  std::optional<fs::path> not_executable;
  for (const auto& path : candidates) {
    if (is_runnable_file(path)) {
      if (const std::string problem = preload_problem(path); !problem.empty())
        return refuse(kCannotGuard, fmt::format("cannot guard {}: {}", path.string(), problem));
      return path;
    }
    std::error_code error;
    if (!not_executable && fs::exists(path, error)) not_executable = path;
  }
  if (not_executable)
    return refuse(kNotExecutable, fmt::format("{} is not executable", not_executable->string()));
  return refuse(kNotFound, fmt::format("{}: no such program", name));
}

tl::expected<Ended, Refusal> run_program(Launch launch) {
  auto library = preload_name(launch.library, launch.folder);
  if (!library) return refuse(kCannotGuard, library.error().message);
  launch.library = *std::move(library);
  sigset_t signals, before;
  ::sigemptyset(&signals);
  for (const int number : {SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2})
    ::sigaddset(&signals, number);
  ErrorPipe errors;
  if (!errors.is_open())
    return refuse(kCannotGuard, fmt::format("no pipe: {}", std::strerror(errno)));
  ::sigprocmask(SIG_BLOCK, &signals, &before);
  // If SIGCHLD is ignored, the end of a child gives neither a signal nor a status.
  struct sigaction usual = {}, inherited = {};
  usual.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &usual, &inherited);
  const pid_t child = ::fork();
  if (child == 0) {
    ::sigaction(SIGCHLD, &inherited, nullptr);
    become(launch, before, errors);
  }
  const int fork_error = errno;
  int exec_error = 0;
  Ended ended;
  if (child > 0) {
    exec_error = errors.receive();
    ended = wait_for(child, signals, launch.limit);
  }
  ::sigaction(SIGCHLD, &inherited, nullptr);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (child < 0)
    return refuse(kCannotGuard,
                  fmt::format("cannot start a process: {}", std::strerror(fork_error)));
  if (exec_error != 0)
    return refuse(
        exec_error == ENOENT ? kNotFound : kNotExecutable,
        fmt::format("cannot run {}: {}", launch.program.string(), std::strerror(exec_error)));
  return ended;
}

}  // namespace redzone::guard
