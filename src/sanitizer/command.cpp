#include "sanitizer/command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "core/plan_text.h"

namespace redzone::sanitizer {
namespace {

// The tool reads % as the start of a sequence.
std::string escaped(const std::string& path) {
  std::string out;
  for (char c : path) out += c == '%' ? std::string("%%") : std::string(1, c);
  return out;
}

}  // namespace

std::string find_compute_sanitizer() {
  std::string folders;
  if (const char* path = std::getenv("PATH")) folders = path;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* home = std::getenv(variable)) folders += fmt::format(":{}/bin", home);
  folders += ":/usr/local/cuda/bin";
  for (std::size_t begin = 0; begin <= folders.size();) {
    const auto end = std::min(folders.find(':', begin), folders.size());
    const auto file =
        std::filesystem::path(folders.substr(begin, end - begin)) / "compute-sanitizer";
    std::error_code error;
    if (std::filesystem::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0)
      return file.string();
    begin = end + 1;
  }
  return "";
}

std::vector<std::string> command_prefix(const std::string& compute_sanitizer, SanitizerTool tool,
                                        const std::filesystem::path& log) {
  RZ_CHECK(tool != SanitizerTool::none);
  std::vector<std::string> argv{
      compute_sanitizer,           "--tool",           std::string(name_of(tool)),
      "--destroy-on-device-error", "kernel",           "--print-limit",
      std::to_string(kPrintLimit), "--show-backtrace", "device",
      "--target-processes",        "application-only", "--log-file",
      escaped(log.string())};
  if (tool == SanitizerTool::memcheck)
    argv.insert(argv.end(), {"--track-stream-ordered-races", "all", "--report-api-errors", "no"});
  if (tool == SanitizerTool::racecheck) argv.insert(argv.end(), {"--racecheck-report", "analysis"});
  return argv;
}

}  // namespace redzone::sanitizer
