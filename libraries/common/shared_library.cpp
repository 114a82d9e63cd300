#include "common/shared_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace redzone::libraries {
namespace {

void add_folder(std::vector<std::string>& places, const std::string& folder,
                const std::vector<std::string>& names) {
  for (const auto& name : names) places.push_back((std::filesystem::path(folder) / name).string());
}

// The `lib` folders of NVIDIA's wheels, ascending.
std::vector<std::string> wheel_folders(const std::filesystem::path& environment) {
  std::vector<std::string> folders;
  std::error_code error;
  for (const auto& python : std::filesystem::directory_iterator(environment / "lib", error))
    for (const auto& wheel :
         std::filesystem::directory_iterator(python.path() / "site-packages" / "nvidia", error))
      if (std::filesystem::is_directory(wheel.path() / "lib", error))
        folders.push_back((wheel.path() / "lib").string());
  std::sort(folders.begin(), folders.end());
  return folders;
}

}  // namespace

std::vector<std::string> places_of(const std::vector<std::string>& names,
                                   const char* (*environment)(const char*)) {
  std::vector<std::string> places;
  const char* const given = environment(kFoldersVariable);
  const std::string folders = given != nullptr ? given : "";
  for (std::size_t begin = 0; begin < folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    if (end > begin) add_folder(places, folders.substr(begin, end - begin), names);
    begin = end + 1;
  }
  places.insert(places.end(), names.begin(), names.end());
  const char* const toolkit = environment("CUDA_HOME");
  add_folder(places, std::string(toolkit != nullptr ? toolkit : "/usr/local/cuda") + "/lib64",
             names);
  if (const char* const venv = environment("VIRTUAL_ENV"))
    for (const auto& folder : wheel_folders(venv)) add_folder(places, folder, names);
  return places;
}

SharedLibrary::SharedLibrary(const std::vector<std::string>& names) {
  const auto environment = [](const char* name) -> const char* { return std::getenv(name); };
  bool is_absent = false;
  for (const auto& place : places_of(names, environment)) {
    handle_ = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) {
      file_ = place;
      problem_.clear();
      return;
    }
    const char* const said = ::dlerror();
    const std::string problem = said != nullptr ? said : place + ": unknown error";
    // A file that exists but does not load gives a better message than a missing file.
    const bool absent = problem.find("No such file") != std::string::npos;
    if (problem_.empty() || (is_absent && !absent)) {
      problem_ = problem;
      is_absent = absent;
    }
  }
}

void* SharedLibrary::symbol(const std::string& name) const {
  return handle_ == nullptr ? nullptr : ::dlsym(handle_, name.c_str());
}

}  // namespace redzone::libraries
