// cuBLAS with one handle for the process.
#pragma once

#include <cstddef>

#include "common/handled_library.h"

namespace redzone::libraries::cublas {

// Workspace size that NVIDIA recommends for compute capability 9.0 (cublasSetWorkspace), in bytes.
inline constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;

// Loaded at the first call. A worker runs one trial at a time, and all trials use this handle.
HandledLibrary& library();

// Makes the library enqueue on `stream` with this workspace. Sets the workspace last, because
// cublasSetStream resets it. Returns the status.
int use(void* stream, void* workspace);

}  // namespace redzone::libraries::cublas
