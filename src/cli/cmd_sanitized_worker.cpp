// `redzone sanitized-worker`: replaces itself by compute-sanitizer with a worker inside. Each
// process creates its own log file here, because the driver starts many with the same command line.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/commands.h"
#include "cli/flags.h"
#include "core/plan_text.h"
#include "sanitizer/command.h"
#include "sanitizer/new_log.h"

namespace redzone::cli {
namespace {

class SanitizedWorker final : public Command {
 public:
  std::string_view name() const override { return "sanitized-worker"; }
  std::string_view synopsis() const override {
    return "redzone sanitized-worker --sanitizer TOOL --compute-sanitizer FILE --logs FOLDER "
           "--socket-fd N --black-box-fd M";
  }
  std::string_view summary() const override {
    return "runs trials for a driver under compute-sanitizer (internal)";
  }
  bool internal() const override { return true; }
  void declare(po::options_description& flags, po::positional_options_description&) const override {
    add_device_flag(flags);
    add_plugin_flag(flags);
    add_package_flag(flags);
    add_sanitizer_flag(flags);
    flags.add_options()("compute-sanitizer", po::value<std::string>()->required(), "the program")(
        "logs", po::value<std::string>()->required(), "where its text goes")(
        "socket-fd", po::value<int>()->required(), "the driver")(
        "black-box-fd", po::value<int>()->required(), "the page that survives this process");
  }
  Result<int> run(const po::variables_map& flags, Results& out) override;
};

Result<int> SanitizedWorker::run(const po::variables_map& flags, Results&) {
  RZ_TRY_ASSIGN(const auto tool, sanitizer_flag(flags));
  if (tool == SanitizerTool::none) return usage_error("--sanitizer: must name a tool");
  RZ_TRY_ASSIGN(const auto log, sanitizer::new_log(flags["logs"].as<std::string>()));
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return harness_error("/proc/self/exe: " + error.message());

  auto argv = sanitizer::command_prefix(flags["compute-sanitizer"].as<std::string>(), tool, log);
  argv.insert(argv.end(),
              {self.string(), "worker", "--device", flags["device"].as<std::string>(),
               "--sanitizer", std::string(name_of(tool)), "--sanitizer-log", log.string()});
  for (const std::string flag : {"plugin", "package"})
    if (flags.count(flag) != 0)
      for (const auto& path : flags[flag].as<std::vector<std::string>>())
        argv.insert(argv.end(), {"--" + flag, path});
  for (const char* fd : {"socket-fd", "black-box-fd"})
    argv.insert(argv.end(), {fmt::format("--{}", fd), std::to_string(flags[fd].as<int>())});
  std::vector<char*> words;
  words.reserve(argv.size() + 1);
  for (auto& word : argv) words.push_back(word.data());
  words.push_back(nullptr);
  ::execv(words[0], words.data());
  return harness_error(fmt::format("cannot start {}: {}", argv[0], std::strerror(errno)));
}

}  // namespace

std::unique_ptr<Command> make_sanitized_worker() {
  return std::make_unique<SanitizedWorker>();
}

}  // namespace redzone::cli
