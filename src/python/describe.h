// Describes files of Python targets in a process of their interpreter, because the driver has none.
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

// Long, because imports that compile kernels take long. Excludes the time in which the process
// waits for a processor (core/processor_wait.h).
inline constexpr std::chrono::milliseconds kDescribeDeadline{120'000};

struct DescribeOptions {
  std::string device = {};  // name of the workers' device, which a file may query; "": not passed
  // "NAME=value" for the workers, in addition to variables(). The workers are forked from the
  // process that describes the files.
  std::vector<std::string> environment = {};
  std::chrono::milliseconds deadline = kDescribeDeadline;
  std::function<bool()> stop = {};  // called several times a second
};

// Runs `python -m redzone.describe` on all files; without files, only for the versions. Files may
// print, fork, crash or hang: the result is then a usage error of one line, with file and line as
// far as known. A harness error if the interpreter lacks a module, or once `stop` returns true. The
// process and its process group are killed at the end. If files and a device are given, a process
// may remain that has imported the files, forks workers for the device (zygote_name()), and ends
// with this process.
Result<Descriptions> describe(const Interpreter& interpreter,
                              std::span<const std::filesystem::path> files,
                              const DescribeOptions& options = {});

}  // namespace redzone::python
