// Deliberately leaks an object until the process ends: a device that no longer responds may still
// use what the object owns, so its destructor must not run.
#pragma once

#include <memory>

#include "core/instrumented.h"

#ifdef REDZONE_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#endif

namespace redzone {

// Excludes the object, and all that it references, from LeakSanitizer. `object` may be null.
template <class T>
void leak_on_purpose(std::unique_ptr<T> object) noexcept {
  [[maybe_unused]] const T* leaked = object.release();
#ifdef REDZONE_ADDRESS_SANITIZER
  if (leaked != nullptr) __lsan_ignore_object(leaked);
#endif
}

}  // namespace redzone
