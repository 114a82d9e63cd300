// Runs the real binary like a user and captures its output.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/temporary_folder.h"

namespace redzone::e2e {

using Json = nlohmann::json;
using Arguments = std::vector<std::string>;

// A temporary folder outside the tree, removed with its contents.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();  // allows the owner what a test has forbidden
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& path() const { return folder_.path(); }
  std::string operator/(const std::string& name) const { return (path() / name).string(); }
  // Writes a file and returns its path.
  std::string write(const std::string& name, const std::string& text) const;

 private:
  TemporaryFolder folder_;
};

std::string read_text(const std::filesystem::path& file);

struct Ran {
  int exit = -1;  // 128 + signal if a signal ended it
  std::string out, err;

  Json json() const;  // of `out`; a discarded value if `out` is not JSON
};

// The plans of a campaign that passed, and those of empty tensors, which launch nothing.
std::size_t passed_or_empty(const Json& campaign);

// The observed results, for the message of a failed test.
std::ostream& operator<<(std::ostream& out, const Ran& ran);

// `redzone ARGUMENTS...` in `folder`, in the background. Its output goes to files there. Killed
// when it outlives this object.
class Process {
 public:
  Process(const TempFolder& folder, const Arguments& arguments);
  // Runs another program, given by its path.
  Process(const TempFolder& folder, const std::string& program, const Arguments& arguments);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  // Output so far.
  std::string out() const { return read_text(out_); }
  std::string err() const { return read_text(err_); }
  void signal(int number) const;
  // Signals the process and its children in the same process group, like a terminal.
  void signal_group(int number) const;
  Ran wait();

 private:
  std::filesystem::path out_, err_;
  pid_t pid_ = -1;
};

// The process that forks the workers of a command (exec/zygote.h), once there is one.
pid_t zygote(const TempFolder& folder);

// A deadline of trials that do not hang: on a busy machine a worker may get no processor time for
// seconds, which must not look like a hang.
inline constexpr const char* kLongDeadline = "60s";

// Runs the command to its end.
Ran redzone(const TempFolder& folder, const Arguments& arguments);
// The commands, as `redzone --help` lists them.
std::vector<std::string> command_names();
// Runs a script with `sh`; $REDZONE is the binary. For tests that need the shell's handling of
// descriptors.
Ran shell(const TempFolder& folder, const std::string& script);

// Drivers and workers that were started in `folder` and are still running.
std::vector<pid_t> left_behind(const TempFolder& folder);

}  // namespace redzone::e2e
