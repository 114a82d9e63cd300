// The Python that runs the user's files, and how its processes are started.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace redzone::python {

struct Interpreter {
  std::filesystem::path path;  // absolute; not resolved: a virtual environment is found by its link
  bool given = false;          // by the user, and not found
};

// `given`, a path or a name on PATH; or if it is empty the interpreter of the active environment:
// $VIRTUAL_ENV/bin/python, else $CONDA_PREFIX/bin/python, else python3 on PATH. A usage error if
// there is none.
Result<Interpreter> find_interpreter(const std::string& given);

// Where the libraries and the Python package of this program lie: ../lib/redzone, relative to the
// running binary.
std::filesystem::path library_folder();

// Environment variable of a worker: the hash of the code that was described, which the worker must
// find as well. A file may have been changed since.
inline constexpr std::string_view kCodeHash = "REDZONE_CODE_HASH";

// Environment variable of a worker's proxy: the abstract socket of the process that forks workers.
inline constexpr std::string_view kZygote = "REDZONE_ZYGOTE";

// The name of that socket, for workers on a device of this process, without the hash of the code:
// the process that describes the code appends it ("NAME/HASH").
std::string zygote_name(std::string_view device);

// "NAME=value" for a process that imports `redzone`: where the package and the worker library are,
// and that a fatal signal prints the stack.
std::vector<std::string> variables();

// The words that start a worker: `python -m redzone.worker` by the proxy in ../lib/redzone, whose
// workers are forked from a process that has imported the user's files.
std::vector<std::string> worker_words(const std::string& interpreter);

}  // namespace redzone::python
