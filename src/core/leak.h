// An object that is left to the end of the process on purpose: what it owns may still be in use by
// a device that no longer answers, so its destructor must not run.
#pragma once

#include <memory>

#include "core/instrumented.h"

#ifdef REDZONE_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#endif

namespace redzone {

// LeakSanitizer is told, for it and for what can be reached from it. `object` may be null.
template <class T>
void leak_on_purpose(std::unique_ptr<T> object) noexcept {
  [[maybe_unused]] const T* leaked = object.release();
#ifdef REDZONE_ADDRESS_SANITIZER
  if (leaked != nullptr) __lsan_ignore_object(leaked);
#endif
}

}  // namespace redzone
