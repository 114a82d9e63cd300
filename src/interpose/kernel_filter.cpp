#include "interpose/kernel_filter.h"

#include <cxxabi.h>

#include <cstdlib>

namespace redzone::interpose {
namespace {

constexpr int kFlags = REG_EXTENDED | REG_NOSUB;

}  // namespace

KernelFilter::KernelFilter(const char* pattern)
    : compiled_(*pattern != '\0' && ::regcomp(&regex_, pattern, kFlags) == 0) {}

KernelFilter::~KernelFilter() {
  if (compiled_) ::regfree(&regex_);
}

bool KernelFilter::names(const char* linker_name) const {
  if (names_all() || *linker_name == '\0') return true;
  if (::regexec(&regex_, linker_name, 0, nullptr, 0) == 0) return true;
  int status = 0;
  char* const written = abi::__cxa_demangle(linker_name, nullptr, nullptr, &status);
  const bool out = written != nullptr && ::regexec(&regex_, written, 0, nullptr, 0) == 0;
  std::free(written);
  return out;
}

bool KernelFilter::problem(const char* pattern, char* text, unsigned long bytes) {
  regex_t regex;
  const int wrong = ::regcomp(&regex, pattern, kFlags);
  if (wrong == 0) {
    ::regfree(&regex);
    return false;
  }
  ::regerror(wrong, &regex, text, bytes);
  return true;
}

}  // namespace redzone::interpose
