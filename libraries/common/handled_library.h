// A library that is loaded at run time and whose functions take a handle.
#pragma once

#include <string>
#include <vector>

#include "common/shared_library.h"

namespace redzone::libraries {

class HandledLibrary {
 public:
  // `names`: see SharedLibrary. `title`: the library's name in messages. `needed`: functions that
  // must exist. `create`: the function that creates the handle. Creating the handle waits for the
  // device, so construct this object in a worker before its trials.
  HandledLibrary(const std::string& title, const std::vector<std::string>& names,
                 const std::string& create, const std::vector<std::string>& needed)
      : library_(names) {
    if (!library_.loaded()) {
      problem_ = title + " is not installed: " + library_.problem();
      return;
    }
    for (const auto& name : needed)
      if (symbol(name) == nullptr) problem_ = library_.file() + " has no " + name;
    if (!problem_.empty()) return;
    auto* const make = function<int(void**)>(create);
    const int status = make == nullptr ? -1 : make(&handle_);
    if (status != 0) problem_ = create + ": status " + std::to_string(status);
  }

  // Explains why nothing can be called; "" if the library is usable.
  const std::string& problem() const { return problem_; }
  void* handle() const { return handle_; }
  // A function by its type, e.g. function<int(void*)>("cublasLtDestroy"); null if it does not
  // exist.
  template <class F>
  F* function(const std::string& name) const {
    return reinterpret_cast<F*>(symbol(name));
  }
  void* symbol(const std::string& name) const { return library_.symbol(name); }

 private:
  SharedLibrary library_;
  std::string problem_;
  void* handle_ = nullptr;
};

}  // namespace redzone::libraries
