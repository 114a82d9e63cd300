#include "sanitizer/command.h"

#include "core/plan_text.h"

namespace redzone::sanitizer {
namespace {

// The tool treats % as the start of a sequence.
std::string escaped(const std::string& path) {
  std::string out;
  for (char c : path) out += c == '%' ? std::string("%%") : std::string(1, c);
  return out;
}

}  // namespace

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
