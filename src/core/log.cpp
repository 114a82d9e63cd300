#include "core/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <unistd.h>

#include <memory>

#include "core/terminal.h"

namespace redzone::log {
namespace {

spdlog::level::level_enum level_of(Level level) {
  switch (level) {
    case Level::warn:
      return spdlog::level::warn;
    case Level::info:
      return spdlog::level::info;
    case Level::debug:
      break;
  }
  return spdlog::level::debug;
}

spdlog::logger& logger() {
  static spdlog::logger only = [] {
    spdlog::logger made("redzone", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    // Overwrites a line of progress that may be on the terminal.
    const bool terminal = ::isatty(STDERR_FILENO) != 0;
    made.set_pattern(terminal ? "\r\033[K%H:%M:%S.%e %l: %v" : "%H:%M:%S.%e %l: %v");
    made.set_level(level_of(Level::warn));
    return made;
  }();
  return only;
}

}  // namespace

void set_level(Level level) {
  logger().set_level(level_of(level));
}

bool shows(Level level) {
  return logger().should_log(level_of(level));
}

void write(Level level, std::string_view text) {
  logger().log(level_of(level), spdlog::string_view_t(printable(text)));
}

}  // namespace redzone::log
