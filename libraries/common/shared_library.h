// A shared library that is looked for at run time, so that a plugin over it loads everywhere.
#pragma once

#include <string>
#include <vector>

namespace redzone::libraries {

// What a user may set: folders, separated by ':', that are searched before all others.
inline constexpr const char* kFoldersVariable = "REDZONE_LIBRARIES";

// Files and names that dlopen() is asked for, in this order: `names` in the folders of the
// variable, by the loader's own rules, in the CUDA Toolkit (`CUDA_HOME`, or /usr/local/cuda), and
// in the wheels of the virtual environment (`VIRTUAL_ENV`): nvidia/*/lib. `environment` returns the
// value of a variable or null.
std::vector<std::string> places_of(const std::vector<std::string>& names,
                                   const char* (*environment)(const char*));

// Never closed: libraries register what the CUDA runtime runs when the process ends.
class SharedLibrary {
 public:
  // The first of places_of(names) that loads. Without one problem() says so.
  explicit SharedLibrary(const std::vector<std::string>& names);

  bool loaded() const { return handle_ != nullptr; }
  // Why it is not loaded: what the loader said about the first file that is there, or else about
  // the first place; or "".
  const std::string& problem() const { return problem_; }
  const std::string& file() const { return file_; }
  // The address of a function; null if the library is absent or has none of that name.
  void* symbol(const std::string& name) const;

 private:
  void* handle_ = nullptr;
  std::string file_, problem_;
};

}  // namespace redzone::libraries
