// The log: lines on stderr about the progress of the program, for users. Results go to stdout;
// errors and notes of commands go to stderr without level and time (cli/output.h).
//
//   warn    something failed and the program continues without it: always shown
//   info    with -v: phases of campaigns, workers started and lost, triage of findings, replays
//   debug   with -vv: every trial and every probe
//
// A line has the time, the level and a text. Control characters and line breaks in the text are
// escaped (core/terminal.h), because it may come from targets, files or workers. The text of a
// level that is not shown is not formatted.
//
// The log is global to the process, because stderr is. main() sets the level once, before any other
// code runs, and no result may depend on the level. Any thread may log.
//
// Worker processes log warnings only. Their stderr is a pipe to the driver, which keeps its last
// part and quotes it if the worker is lost (exec/output_tail.h).
#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace redzone::log {

enum class Level : std::uint8_t { warn, info, debug };

// The level for a number of -v flags: none, -v, -vv or more.
constexpr Level level_for(std::size_t times) {
  return times == 0 ? Level::warn : times == 1 ? Level::info : Level::debug;
}

// Shows lines of this level and of more severe ones.
void set_level(Level level);
// For callers that do more work than formatting to build the text.
bool shows(Level level);
// Writes `text` as a line if the level is shown.
void write(Level level, std::string_view text);

template <class... Args>
void at(Level level, fmt::format_string<Args...> text, Args&&... args) {
  if (shows(level)) write(level, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void warn(fmt::format_string<Args...> text, Args&&... args) {
  at(Level::warn, text, std::forward<Args>(args)...);
}
template <class... Args>
void info(fmt::format_string<Args...> text, Args&&... args) {
  at(Level::info, text, std::forward<Args>(args)...);
}
template <class... Args>
void debug(fmt::format_string<Args...> text, Args&&... args) {
  at(Level::debug, text, std::forward<Args>(args)...);
}

}  // namespace redzone::log
