// The Python interpreter for the user's files, and the environment and command line of its
// processes.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace redzone::python {

struct Interpreter {
  // Absolute, links not resolved: a virtual environment is found through its link
  std::filesystem::path path;
  bool given = false;  // named by the user instead of found
};

// Finds `given`, a path or a name on PATH; or, if it is empty, the interpreter of the active
// environment: $VIRTUAL_ENV/bin/python, else $CONDA_PREFIX/bin/python, else python3 on PATH. A
// usage error if there is none.
Result<Interpreter> find_interpreter(const std::string& given);

// The folder of this program's libraries and Python package: ../lib/redzone, relative to the
// running binary.
std::filesystem::path library_folder();

// Environment variable of a worker: the hash of the described code. The worker must compute the
// same hash, because a file may have changed since.
inline constexpr std::string_view kCodeHash = "REDZONE_CODE_HASH";

// Environment variable of a worker's proxy: the abstract socket of the process that forks workers.
inline constexpr std::string_view kZygote = "REDZONE_ZYGOTE";

// The name of that socket for workers on a device of this process, without the hash of the code.
// The process that describes the code appends the hash ("NAME/HASH").
std::string zygote_name(std::string_view device);

// Variables ("NAME=value") for a process that imports `redzone`: they locate the package and the
// worker library, and make a fatal signal print the stack.
std::vector<std::string> variables();

// The words that start a worker: the proxy in ../lib/redzone with `python -m redzone.worker`. The
// proxy gets a worker that is forked from a process that has imported the user's files.
std::vector<std::string> worker_words(const std::string& interpreter);

}  // namespace redzone::python
