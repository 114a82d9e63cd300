#include "python/interpreter.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

namespace redzone::python {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_program(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

fs::path on_path(const std::string& name) {
  std::istringstream folders(variable("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');)
    if (!folder.empty() && is_program(fs::path(folder) / name)) return fs::path(folder) / name;
  return {};
}

// Start time of this process in system ticks. Together with the pid it identifies the process
// uniquely.
std::string start_of_this_process() {
  std::ifstream in("/proc/self/stat");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  // Field 22; field 2 is in parentheses and may contain anything.
  constexpr int kNext = 3, kStart = 22;
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::string field;
  for (int i = kNext; i <= kStart; ++i) fields >> field;
  return field;
}

fs::path absolute_of(const fs::path& path) {
  std::error_code error;
  return fs::absolute(path, error).lexically_normal();
}

}  // namespace

Result<Interpreter> find_interpreter(const std::string& given) {
  if (!given.empty()) {
    const fs::path path = given.find('/') == std::string::npos ? on_path(given) : fs::path(given);
    if (path.empty() || !is_program(path))
      return usage_error(fmt::format("--python {}: no such program", given));
    return Interpreter{absolute_of(path), true};
  }
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const std::string prefix = variable(name); !prefix.empty())
      if (const fs::path path = fs::path(prefix) / "bin" / "python"; is_program(path))
        return Interpreter{absolute_of(path), false};
  const fs::path found = on_path("python3");
  if (found.empty())
    return usage_error("no python3 on PATH, and no active environment: name one with --python");
  return Interpreter{absolute_of(found), false};
}

fs::path library_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path().parent_path() / "lib" / "redzone";
}

std::string zygote_name(std::string_view device) {
  return fmt::format("redzone-zygote/{}/{}/{}", ::getpid(), start_of_this_process(), device);
}

std::vector<std::string> variables() {
  const fs::path folder = library_folder();
  std::string path = (folder / "python").string();
  if (const std::string before = variable("PYTHONPATH"); !before.empty()) path += ":" + before;
  std::vector<std::string> out{
      "PYTHONPATH=" + path,
      // -m would put the current folder first, where a json.py of the user would hide Python's own.
      "PYTHONSAFEPATH=1",
      "PYTHONFAULTHANDLER=1",
      // Python uses stale bytecode if the source was changed within a second and has the same
      // length.
      "PYTHONDONTWRITEBYTECODE=1",
      "REDZONE_LIBRARY=" + (folder / "libredzone_worker.so").string(),
  };
  // Fixes the order of sets of texts, so that a failure that depends on it recurs in other
  // processes.
  if (variable("PYTHONHASHSEED").empty()) out.emplace_back("PYTHONHASHSEED=0");
  return out;
}

std::vector<std::string> worker_words(const std::string& interpreter) {
  return {(library_folder() / "redzone_worker_proxy").string(), interpreter, "-m",
          "redzone.worker"};
}

}  // namespace redzone::python
