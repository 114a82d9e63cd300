// Lookups whose answer depends on who asks: each of these libraries has a function of one name.
#include <dlfcn.h>

#include <cstddef>

#ifdef FIRST
extern "C" int scope_probe() {
  const auto next = reinterpret_cast<int (*)()>(dlsym(RTLD_NEXT, "scope_probe"));
  return next == nullptr ? 0 : next() + 1;
}
#elif defined(SECOND)
extern "C" int scope_probe() {
  return 40;
}
#elif defined(LOCAL)
// Opened with RTLD_LOCAL: only it, and what it depends on, is in its own scope.
extern "C" int scope_of_local() {
  return dlsym(RTLD_DEFAULT, "scope_probe_of_local") != nullptr ? 1 : 0;
}
extern "C" int scope_probe_of_local() {
  return 1;
}
#else
extern "C" int scope_probe();

// argv[1]: the library LOCAL.
int main(int argc, char** argv) {
  if (scope_probe() != 41) return 1;
  void* const local = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (local == nullptr) return 2;
  const auto ask = reinterpret_cast<int (*)()>(dlsym(local, "scope_of_local"));
  if (ask == nullptr || ask() != 1) return 3;
  if (dlsym(RTLD_DEFAULT, "scope_probe_of_local") != nullptr) return 4;
  return 0;
}
#endif
