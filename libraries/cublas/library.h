// cuBLAS with one handle of this process.
#pragma once

#include <cstddef>

#include "common/handled_library.h"

namespace redzone::libraries::cublas {

// The bytes of a workspace that NVIDIA recommends for compute capability 9.0 (cublasSetWorkspace).
inline constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;

// Loaded at the first call. A worker runs one trial at a time, and the handle serves all of them.
HandledLibrary& library();

// Makes the library enqueue on `stream`, with this workspace, which cublasSetStream resets. The
// status.
int use(void* stream, void* workspace);

}  // namespace redzone::libraries::cublas
