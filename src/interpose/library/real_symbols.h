// Functions of the C library that the preloaded library stands in for.
#pragma once

namespace redzone::interpose {

// dlsym() itself; found without calling it.
void* real_dlsym(void* handle, const char* name);
// The next definition of `name` behind the preloaded library.
void* real_function(const char* name);
// dlopen(): RTLD_LAZY, with other flags.
void* real_dlopen(const char* file, int flags);

}  // namespace redzone::interpose
