// Which kernels the settings name: those alone are waited for, checked and held.
#pragma once

#include <regex.h>

namespace redzone::interpose {

class KernelFilter {
 public:
  // A POSIX extended regular expression; "": all kernels. One that is wrong names all as well: the
  // command refuses it (problem()) before a process gets it.
  explicit KernelFilter(const char* pattern);
  ~KernelFilter();
  KernelFilter(const KernelFilter&) = delete;
  KernelFilter& operator=(const KernelFilter&) = delete;

  bool names_all() const { return !compiled_; }
  // By its name as the linker has it, or as people write it, "fill(float*, int)". A kernel without
  // a known name may be any.
  bool names(const char* linker_name) const;

  // What is wrong with the pattern, in `text`; false if it is right.
  static bool problem(const char* pattern, char* text, unsigned long bytes);

 private:
  regex_t regex_{};
  bool compiled_ = false;
};

}  // namespace redzone::interpose
