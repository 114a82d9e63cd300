// The log: what the program is doing, as lines on stderr and nowhere else. Results go to
// stdout, errors and notes of commands to stderr as they are (cli/output.h); nothing that a program
// reads depends on a line of the log.
//
//   warn    something did not work, and it goes on without: always shown
//   info    with -v: phases of campaigns, workers started and lost, findings' stations, replays
//   debug   with -vv: each trial and each question
//
// A line has a time, its level and one line of text: whatever comes from targets, files and workers
// cannot steer the terminal or begin another line, as all of it is escaped (core/terminal.h). What
// is not shown is not formatted.
//
// There is one log in a process, as there is one stderr: main sets the level once, before anything
// else runs, and nobody reads it back, so that nothing that is computed can depend on it. Handing a
// logger through every constructor would say no more than that. Any thread may log.
//
// Worker processes log to their own stderr, warnings only. That is a pipe of their driver's, apart
// from the socket of the protocol: the driver keeps the last of it, and quotes it where the worker
// is lost (exec/output_tail.h).
#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace redzone::log {

enum class Level : std::uint8_t { warn, info, debug };

// For -v that often: none, -v, -vv and more.
constexpr Level level_for(std::size_t times) {
  return times == 0 ? Level::warn : times == 1 ? Level::info : Level::debug;
}

// Lines of this level and of those above it are shown.
void set_level(Level level);
// For what takes more than formatting to say.
bool shows(Level level);
// As it is, if the level is shown.
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
