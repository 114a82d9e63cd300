// The C library functions that the preloaded library replaces.
#pragma once

namespace redzone::interpose {

// The real dlsym(); found without calling dlsym().
void* real_dlsym(void* handle, const char* name);
// The definition of `name` that follows the preloaded library's.
void* real_function(const char* name);
// The real dlopen().
void* real_dlopen(const char* file, int flags);

}  // namespace redzone::interpose
