// How a program was started, as needed to start it again.
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
  std::string folder;                            // working folder; "" if unknown
  std::vector<EnvironmentVariable> environment;  // the variables that may be stored, by name
  std::vector<std::string> unset = {};           // requested variables that were not set

  bool operator==(const Started&) const = default;
};

// Parses the file that a guarded process has written (interpose/origin_file.h). Missing parts are
// empty.
Started parse_started(std::string_view bytes);

// `argv` with the folder and the environment of this process. `more`: names of variables to store
// in addition to kKeptVariables; kPreloadVariable is never stored.
Started started_here(std::vector<std::string> argv, std::span<const std::string> more);

// Sets these variables in `started`, replacing existing values.
void set_variables(Started& started, std::span<const EnvironmentVariable> variables);

// The names of the variables that influence a run of `started`: each must have its value in
// `started`, or be unset.
std::vector<std::string> decisive_variables(const Started& started);

}  // namespace redzone::guard
