#include "python/describe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>

#include "core/child_process.h"
#include "core/fd.h"
#include "core/log.h"
#include "core/terminal.h"
#include "exec/child_environment.h"
#include "exec/output_tail.h"

namespace redzone::python {
namespace {

using Clock = std::chrono::steady_clock;

// Exit codes of `python -m redzone.describe`.
constexpr int kFileIsWrong = 2, kModuleIsMissing = 3;
// Byte that it writes before it imports a file; the answer follows.
constexpr char kStarted = '\n';

constexpr std::size_t kMostAnswerBytes = std::size_t{16} << 20;
// Exceeds what any file prints intentionally during its import.
constexpr std::uint64_t kMostOutputBytes = std::uint64_t{256} << 20;
// Poll interval for a stop request and the end of the process
constexpr std::chrono::milliseconds kAskEvery{50};
// After this time, a message names what the command waits for
constexpr std::chrono::seconds kLong{10};

struct Pipe {
  Fd read, write;

  static std::optional<Pipe> make() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return Pipe{Fd(ends[0]), Fd(ends[1])};
  }
};

std::string last_line(const exec::OutputTail& output) {
  std::string text = output.text();
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

// The error for a child that ended without an answer. `told`: the text that it wrote instead of an
// answer. If there is none although the interpreter has `started`, a file has chosen the exit code.
Error problem(const Interpreter& interpreter, const std::string& files, int status, bool started,
              const std::string& told, const exec::OutputTail& output) {
  const std::string line = told.empty() ? last_line(output) : printable(told);
  if (WIFSIGNALED(status)) {
    const char* name = ::sigabbrev_np(WTERMSIG(status));
    return {ErrorKind::usage, fmt::format("{}: killed by SIG{} while it was imported", files,
                                          name == nullptr ? "?" : name)};
  }
  const int code = WEXITSTATUS(status);
  if (started && told.empty() && !files.empty())
    return {ErrorKind::usage,
            fmt::format("{}:1: ended the process with exit code {} while it was imported{}{}",
                        files, code, line.empty() ? "" : "; it printed: ", line)};
  if (code == kFileIsWrong && !told.empty()) return {ErrorKind::usage, line};
  if (code == kModuleIsMissing && !told.empty())
    return {ErrorKind::harness, fmt::format("{}: {}", interpreter.path.string(), line)};
  return {ErrorKind::harness,
          fmt::format("{}: exited with code {} and no answer{}{}", interpreter.path.string(), code,
                      line.empty() ? "" : ": ", line)};
}

// Explains why the path is not a regular file.
std::string why_no_file(const std::filesystem::file_status& status, const std::error_code& error) {
  switch (status.type()) {
    case std::filesystem::file_type::none:
      return error.message();
    case std::filesystem::file_type::not_found:
      return "no such file";
    case std::filesystem::file_type::directory:
      return "is a folder, not a file";
    default:
      return "is not a regular file";
  }
}

enum class Read { more, end, too_much };

Read read_answer(int fd, std::string& answer) {
  char chunk[64 * 1024];
  for (;;) {
    const ssize_t n = ::read(fd, chunk, sizeof chunk);
    if (n == 0) return Read::end;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN ? Read::more : Read::end;
    answer.append(chunk, static_cast<std::size_t>(n));
    if (answer.size() > kMostAnswerBytes) return Read::too_much;
  }
}

}  // namespace

Result<Descriptions> describe(const Interpreter& interpreter,
                              std::span<const std::filesystem::path> files,
                              const DescribeOptions& options) {
  std::vector<std::string> names;
  for (const auto& file : files) {
    std::error_code error;
    const auto status = std::filesystem::status(file, error);
    if (!std::filesystem::is_regular_file(status))
      return usage_error(fmt::format("{}: {}", file.string(), why_no_file(status, error)));
    names.push_back(file.string());
  }
  const std::string all = fmt::format("{}", fmt::join(names, ", "));
  auto answer_pipe = Pipe::make(), output_pipe = Pipe::make();
  const Fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!answer_pipe || !output_pipe || !null)
    return harness_error(fmt::format("cannot describe {}: {}", all, std::strerror(errno)));

  // The descriptor for the answer has the same number in the child.
  std::vector<std::string> words{interpreter.path.string(), "-m", "redzone.describe", "--out-fd",
                                 std::to_string(answer_pipe->write.get())};
  if (!options.device.empty()) {
    words.insert(words.end(), {"--device", options.device});
    if (!names.empty())
      words.insert(words.end(), {"--zygote", zygote_name(options.device), "--driver",
                                 std::to_string(::getpid())});
  }
  words.insert(words.end(), names.begin(), names.end());
  std::vector<std::string> more = variables();
  more.insert(more.end(), options.environment.begin(), options.environment.end());
  const auto environment = exec::environment_with(more);
  RZ_TRY_ASSIGN(auto child, ChildProcess::start({.words = std::move(words),
                                                 .environment = environment.data(),
                                                 .input = null.get(),
                                                 .output = output_pipe->write.get(),
                                                 .passed_on = answer_pipe->write.get()}));
  answer_pipe->write.reset();
  output_pipe->write.reset();

  std::string answer;
  exec::OutputTail output;
  const auto begun = Clock::now();
  for (bool said = false;;) {
    const auto status = child.ended();  // first: what it wrote before is then read below
    output.drain(output_pipe->read.get());
    const Read read = read_answer(answer_pipe->read.get(), answer);
    if (read == Read::too_much)
      return usage_error(
          fmt::format("{}: a description of more than {} MiB", all, kMostAnswerBytes >> 20));
    if (status) {
      const bool started = answer.starts_with(kStarted);
      if (started) answer.erase(0, 1);
      if (*status != 0 || answer.empty())
        return tl::unexpected(problem(interpreter, all, *status, started, answer, output));
      return read_descriptions(answer, "description of " + all);
    }
    if (output.total_bytes() > kMostOutputBytes)
      return usage_error(
          fmt::format("{}: printed more than {} MiB while it was imported, at last: {}", all,
                      kMostOutputBytes >> 20, last_line(output)));
    if (options.stop && options.stop())
      return harness_error(all + ": interrupted while it was described");
    // On a busy machine, an import of PyTorch may wait for a processor most of the time.
    if (Clock::now() >= begun + options.deadline + child.waited_for_processor())
      return usage_error(
          fmt::format("{}: was not imported within {} s", all,
                      std::chrono::duration_cast<std::chrono::seconds>(options.deadline).count()));
    if (!said && !files.empty() && Clock::now() >= begun + kLong) {
      said = true;
      const std::string line = last_line(output);
      log::warn("{}: is being imported for {} s, {} s at most{}{}", all, kLong.count(),
                std::chrono::duration_cast<std::chrono::seconds>(options.deadline).count(),
                line.empty() ? "" : "; it printed: ", line);
    }
    pollfd entries[] = {{answer_pipe->read.get(), POLLIN, 0}, {output_pipe->read.get(), POLLIN, 0}};
    // At the end of the answer, only the end of the process remains to be waited for.
    ::poll(entries, read == Read::end ? 0 : 2, static_cast<int>(kAskEvery.count()));
  }
}

}  // namespace redzone::python
