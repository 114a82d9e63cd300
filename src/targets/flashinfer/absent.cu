// Replaces launch.cu when no FlashInfer is installed.
#include "launch.h"

namespace redzone::flashinfer_target {

const char* missing() {
  return "built without FlashInfer: configure with -DREDZONE_FLASHINFER=FOLDER, the folder of the "
         "Python package `flashinfer`";
}

std::size_t workspace_bytes(std::int64_t, int, int) {
  return 0;
}

const char* enqueue(const Prefill&) {
  return missing();
}

}  // namespace redzone::flashinfer_target
