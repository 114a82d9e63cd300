#include "e2e/cli.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace redzone::e2e {
namespace {

// Every process started by the commands of a folder inherits it, including workers of workers.
constexpr const char* kMark = "REDZONE_TEST_FOLDER";

[[noreturn]] void become(const TempFolder& folder, const std::filesystem::path& out,
                         const std::filesystem::path& err, const std::string& program,
                         std::vector<char*>& argv) {
  ::setpgid(0, 0);
  ::setenv(kMark, folder.path().c_str(), 1);
  ::setenv("REDZONE", REDZONE_BINARY, 1);
  const int null = ::open("/dev/null", O_RDONLY);
  const int out_fd = ::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  const int err_fd = ::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (::chdir(folder.path().c_str()) != 0 || ::dup2(null, 0) < 0 || ::dup2(out_fd, 1) < 0 ||
      ::dup2(err_fd, 2) < 0)
    ::_exit(126);
  ::execv(program.c_str(), argv.data());
  ::_exit(127);
}

}  // namespace

TempFolder::TempFolder() : folder_(TemporaryFolder::create("e2e").value()) {}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::permissions(path(), std::filesystem::perms::owner_all, ignored);
}

std::string TempFolder::write(const std::string& name, const std::string& text) const {
  std::ofstream(path() / name, std::ios::binary) << text;
  return *this / name;
}

std::string read_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

Json Ran::json() const {
  return Json::parse(out, nullptr, false);
}

std::ostream& operator<<(std::ostream& out, const Ran& ran) {
  return out << "exit " << ran.exit << "\n" << ran.out << ran.err;
}

Process::Process(const TempFolder& folder, const Arguments& arguments)
    : Process(folder, REDZONE_BINARY, arguments) {}

Process::Process(const TempFolder& folder, const std::string& program, const Arguments& arguments) {
  static int number = 0;
  const std::string prefix = folder / (".run" + std::to_string(number++));
  out_ = prefix + ".out";
  err_ = prefix + ".err";
  Arguments words = arguments;
  words.insert(words.begin(), std::filesystem::path(program).filename());
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) become(folder, out_, err_, program, argv);
  if (pid_ < 0) throw std::runtime_error("cannot fork");
  ::setpgid(pid_, pid_);  // the parent sets it as well as the child; the first of the two counts
}

Process::~Process() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  wait();
}

void Process::signal(int number) const {
  ::kill(pid_, number);
}

void Process::signal_group(int number) const {
  ::kill(-pid_, number);
}

Ran Process::wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  Ran ran;
  ran.exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ran.out = read_text(out_);
  ran.err = read_text(err_);
  return ran;
}

Ran redzone(const TempFolder& folder, const Arguments& arguments) {
  return Process(folder, arguments).wait();
}

std::vector<std::string> command_names() {
  const TempFolder folder;
  std::istringstream help(redzone(folder, {"--help"}).out);
  std::vector<std::string> names;
  for (std::string line; std::getline(help, line);)
    if (line.starts_with("  ")) names.push_back(line.substr(2, line.find(' ', 2) - 2));
  EXPECT_FALSE(names.empty());
  return names;
}

Ran shell(const TempFolder& folder, const std::string& script) {
  return Process(folder, "/bin/sh", {"-c", script}).wait();
}

std::vector<pid_t> left_behind(const TempFolder& folder) {
  const std::string mark = std::string(kMark) + "=" + folder.path().string() + '\0';
  std::vector<pid_t> pids;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc() || end != name.data() + name.size()) continue;
    // A process that has ended but was not yet reaped has no environment.
    if (read_text(entry.path() / "environ").find(mark) != std::string::npos) pids.push_back(pid);
  }
  return pids;
}

pid_t zygote(const TempFolder& folder) {
  for (;; std::this_thread::sleep_for(std::chrono::milliseconds(20))) {
    std::vector<pid_t> forks;  // which have its words
    for (const pid_t pid : left_behind(folder))
      if (read_text("/proc/" + std::to_string(pid) + "/cmdline").find("--zygote") !=
          std::string::npos)
        forks.push_back(pid);
    if (!forks.empty()) return *std::min_element(forks.begin(), forks.end());
  }
}

std::size_t passed_or_empty(const Json& campaign) {
  std::size_t plans = campaign["verdicts"]["pass"];
  for (const Json& left : campaign["unjudged"])
    if (left["reason"] == "its calls launch nothing") plans += left["plans"].get<std::size_t>();
  return plans;
}

}  // namespace redzone::e2e
