// The plugin `cublaslt`.
#include "common/plugin_entry.h"
#include "cublaslt/descriptors.h"
#include "cublaslt/library.h"
#include "cublaslt/matmul.h"

#ifdef __CUDACC__
#include <cublasLt.h>

namespace redzone::libraries::cublaslt {

static_assert(sizeof(Heuristic) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(Heuristic, state) == offsetof(cublasLtMatmulHeuristicResult_t, state));
static_assert(kBatchCount == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
static_assert(kBatchStride == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
static_assert(kTransA == CUBLASLT_MATMUL_DESC_TRANSA && kTransB == CUBLASLT_MATMUL_DESC_TRANSB);
static_assert(kEpilogue == CUBLASLT_MATMUL_DESC_EPILOGUE);
static_assert(kBias == CUBLASLT_MATMUL_DESC_BIAS_POINTER);
static_assert(kBiasType == CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE);
static_assert(kBiasBatchStride == CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE);
static_assert(kWorkspaceBytes == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
static_assert(kAlignmentOfA == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
static_assert(kAlignmentOfA + 3 == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);

}  // namespace redzone::libraries::cublaslt
#endif

REDZONE_LIBRARY_ENTRY {
  using namespace redzone::libraries;
  return plugin_info<cublaslt::add_matmuls, prepare<cublaslt::library>>();
}
