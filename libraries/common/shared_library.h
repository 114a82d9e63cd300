// A shared library that is searched for at run time, so that a plugin for it loads everywhere.
#pragma once

#include <string>
#include <vector>

namespace redzone::libraries {

// A variable for users: folders, separated by ':', that are searched before all others.
inline constexpr const char* kFoldersVariable = "REDZONE_LIBRARIES";

// The files and names to pass to dlopen(), in this order: `names` in the folders of the variable,
// by the loader's own rules, in the CUDA Toolkit (`CUDA_HOME`, or /usr/local/cuda), and in the
// wheels of the virtual environment (`VIRTUAL_ENV`): nvidia/*/lib. `environment` returns the value
// of a variable or null.
std::vector<std::string> places_of(const std::vector<std::string>& names,
                                   const char* (*environment)(const char*));

// The library is never closed, because libraries register functions that the CUDA runtime calls
// when the process ends.
class SharedLibrary {
 public:
  // Loads the first of places_of(names) that can be loaded. If there is none, problem() explains
  // why.
  explicit SharedLibrary(const std::vector<std::string>& names);

  bool loaded() const { return handle_ != nullptr; }
  // Explains why the library is not loaded: the loader's message for the first existing file, or
  // else for the first place. "" if it is loaded.
  const std::string& problem() const { return problem_; }
  const std::string& file() const { return file_; }
  // The address of a function; null if the library is absent or lacks it.
  void* symbol(const std::string& name) const;

 private:
  void* handle_ = nullptr;
  std::string file_, problem_;
};

}  // namespace redzone::libraries
