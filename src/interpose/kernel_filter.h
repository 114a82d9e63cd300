// Which kernels the settings select: only these are waited for, checked and held.
#pragma once

#include <regex.h>

namespace redzone::interpose {

class KernelFilter {
 public:
  // `pattern`: a POSIX extended regular expression; "" selects all kernels. An invalid pattern
  // selects all as well: the command rejects it with problem() before a process gets it.
  explicit KernelFilter(const char* pattern);
  ~KernelFilter();
  KernelFilter(const KernelFilter&) = delete;
  KernelFilter& operator=(const KernelFilter&) = delete;

  bool names_all() const { return !compiled_; }
  // True if the pattern matches the kernel's linker name or its demangled name, "fill(float*,
  // int)". A kernel without a known name always matches.
  bool names(const char* linker_name) const;

  // Stores the error of an invalid pattern in `text`. Returns false if the pattern is valid.
  static bool problem(const char* pattern, char* text, unsigned long bytes);

 private:
  regex_t regex_{};
  bool compiled_ = false;
};

}  // namespace redzone::interpose
