// cuSPARSE with one handle for the process.
#pragma once

#include "common/handled_library.h"

namespace redzone::libraries::cusparse {

// Loaded at the first call. A worker runs one trial at a time.
inline HandledLibrary& library() {
  static HandledLibrary one(
      "cuSPARSE", {"libcusparse.so.12", "libcusparse.so.11", "libcusparse.so"}, "cusparseCreate",
      {"cusparseSetStream", "cusparseCreateCsr", "cusparseCreateCoo", "cusparseDestroySpMat",
       "cusparseCreateDnVec", "cusparseDestroyDnVec", "cusparseCreateDnMat", "cusparseDestroyDnMat",
       "cusparseSpMV", "cusparseSpMV_bufferSize", "cusparseSpMM", "cusparseSpMM_bufferSize",
       "cusparseSDDMM", "cusparseSDDMM_bufferSize"});
  return one;
}

}  // namespace redzone::libraries::cusparse
