// Describes files of Python targets in a process of their interpreter, since the driver has none.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "python/description.h"
#include "python/interpreter.h"

namespace redzone::python {

// Imports that compile kernels take long. Without the time in which the process waits for a
// processor (core/processor_wait.h).
inline constexpr std::chrono::milliseconds kDescribeDeadline{120'000};

struct DescribeOptions {
  std::string device = {};  // name of that of the workers, which a file may ask for; "": not told
  // "NAME=value" of the workers, beside variables(). They are forked from what was described.
  std::vector<std::string> environment = {};
  std::chrono::milliseconds deadline = kDescribeDeadline;
  std::function<bool()> stop = {};  // asked several times a second
};

// Runs `python -m redzone.describe` on all files; without one, for the versions alone. The files
// may print, fork, crash or hang: a usage error of one line, with file and line as far as they are
// known. A harness error if the interpreter lacks a module, or once `stop` is true. The process and
// what it has started in its group are killed at the end. Where files and a device are named, a
// process may stay that has imported the files, forks workers for the device (zygote_name()), and
// ends with this one.
Result<Descriptions> describe(const Interpreter& interpreter,
                              std::span<const std::filesystem::path> files,
                              const DescribeOptions& options = {});

}  // namespace redzone::python
