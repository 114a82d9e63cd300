// How a program was started: what it takes to start it again.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/program_origin.h"

namespace redzone::guard {

struct Started {
  std::vector<std::string> argv;
  std::string folder;                            // the working folder; "" if it is not known
  std::vector<EnvironmentVariable> environment;  // those that may be stored, by name
  std::vector<std::string> unset = {};           // those that were asked for and were not set

  bool operator==(const Started&) const = default;
};

// Reads what a guarded process has left (interpose/origin_file.h). Parts that are missing are
// empty.
Started parse_started(std::string_view bytes);

// `argv` as this process would start it now. `more`: names of variables to store besides those of
// kKeptVariables, and never kPreloadVariable.
Started started_here(std::vector<std::string> argv, std::span<const std::string> more);

// Gives the variables their values, also where `started` has others.
void set_variables(Started& started, std::span<const EnvironmentVariable> variables);

// The names of the variables that decide how `started` runs: each is as in `started`, or not set.
std::vector<std::string> decisive_variables(const Started& started);

}  // namespace redzone::guard
