// cuBLASLt with one handle for the process.
#pragma once

#include "common/handled_library.h"

namespace redzone::libraries::cublaslt {

// Loaded at the first call. A worker runs one trial at a time.
inline HandledLibrary& library() {
  static HandledLibrary one(
      "cuBLASLt", {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"}, "cublasLtCreate",
      {"cublasLtMatmul", "cublasLtMatmulAlgoGetHeuristic", "cublasLtMatmulDescCreate",
       "cublasLtMatmulDescDestroy", "cublasLtMatmulDescSetAttribute", "cublasLtMatrixLayoutCreate",
       "cublasLtMatrixLayoutDestroy", "cublasLtMatrixLayoutSetAttribute",
       "cublasLtMatmulPreferenceCreate", "cublasLtMatmulPreferenceDestroy",
       "cublasLtMatmulPreferenceSetAttribute"});
  return one;
}

}  // namespace redzone::libraries::cublaslt
