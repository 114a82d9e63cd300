// What the parts of the program that uses the driver share.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "interpose/driver_abi.h"

inline void check(bool is, const char* what) {
  if (is) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::_Exit(3);
}
#define CHECK(condition) check(condition, #condition)

template <class Function>
Function* lookup(void* library, const char* name) {
  auto* const out = reinterpret_cast<Function*>(dlsym(library, name));
  check(out != nullptr, name);
  return out;
}

// Copies, sets or writes `bytes` of the block by the function of that name.
int touch(const std::string& name, void* library, redzone::interpose::CuAddress at,
          std::size_t bytes);
