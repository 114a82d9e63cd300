// cuBLASLt, f16: a misaligned access where D's leading dimension is odd and C's is even.
//
//   nvcc -o lt_output_pitch lt_output_pitch.cu -lcublasLt && ./lt_output_pitch
//
// D_b = A_b B_b - 4 C_b for 7 products with m = 32, n = 16, k = 30 in f16, computed in f32. A and B
// are transposed, and ldc and ldd are even or odd. All matrices begin at addresses that cudaMalloc
// returned. The documentation asks of a leading dimension that it is "large enough so that matrix
// memory locations are not overlapping". The algorithm is the first one that
// cublasLtMatmulAlgoGetHeuristic gives for exactly these layouts. Each case runs in a process of
// its own. Exit 1: the bug shows, 0: it does not, 2: it could not be tried.
#include <cublasLt.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int kBatch = 7, kM = 32, kN = 16, kK = 30;
constexpr std::size_t kWorkspace = std::size_t{32} << 20;

void need(bool holds, const char* what) {
  if (holds) return;
  std::printf("%s failed\n", what);
  std::exit(2);
}

__half* on_device(std::size_t elements, float value) {
  std::vector<__half> host(elements, __float2half(value));
  __half* base = nullptr;
  need(cudaMalloc(&base, elements * sizeof(__half)) == cudaSuccess, "cudaMalloc");
  cudaMemcpy(base, host.data(), elements * sizeof(__half), cudaMemcpyHostToDevice);
  return base;
}

cublasLtMatrixLayout_t layout_of(std::uint64_t rows, std::uint64_t columns, std::int64_t ld,
                                 std::int64_t stride) {
  cublasLtMatrixLayout_t layout = nullptr;
  need(cublasLtMatrixLayoutCreate(&layout, CUDA_R_16F, rows, columns, ld) == CUBLAS_STATUS_SUCCESS,
       "cublasLtMatrixLayoutCreate");
  const std::int32_t batch = kBatch;
  cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch,
                                   sizeof batch);
  cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                   sizeof stride);
  return layout;
}

enum Verdict { right, wrong, not_tried, refused };

// One case. Ends the process with its verdict.
void run(int ldc, int ldd) {
  const std::int64_t stride_c = kN * ldc, stride_d = kN * ldd + 256;
  __half* const a = on_device(kBatch * kM * kK, 1);
  __half* const b = on_device(kBatch * kK * kN, 1);
  __half* const c = on_device(kBatch * stride_c, 1);
  __half* const d = on_device(kBatch * stride_d, -1);
  void* workspace = nullptr;
  need(cudaMalloc(&workspace, kWorkspace) == cudaSuccess, "cudaMalloc");
  cublasLtHandle_t lt = nullptr;
  need(cublasLtCreate(&lt) == CUBLAS_STATUS_SUCCESS, "cublasLtCreate");
  cublasLtMatmulDesc_t product = nullptr;
  cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  const std::int32_t transposed = CUBLAS_OP_T;
  cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                 sizeof transposed);
  cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSB, &transposed,
                                 sizeof transposed);
  const auto layout_a = layout_of(kK, kM, kK, kM * kK), layout_b = layout_of(kN, kK, kN, kK * kN),
             layout_c = layout_of(kM, kN, ldc, stride_c),
             layout_d = layout_of(kM, kN, ldd, stride_d);
  cublasLtMatmulPreference_t preference = nullptr;
  cublasLtMatmulPreferenceCreate(&preference);
  cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                       &kWorkspace, sizeof kWorkspace);
  cublasLtMatmulHeuristicResult_t found = {};
  int count = 0;
  need(cublasLtMatmulAlgoGetHeuristic(lt, product, layout_a, layout_b, layout_c, layout_d,
                                      preference, 1, &found, &count) == CUBLAS_STATUS_SUCCESS &&
           count == 1,
       "cublasLtMatmulAlgoGetHeuristic");
  std::printf("ldc = %d, ldd = %d: ", ldc, ldd);
  const float alpha = 1, beta = -4;
  const cublasStatus_t status =
      cublasLtMatmul(lt, product, &alpha, a, layout_a, b, layout_b, &beta, c, layout_c, d, layout_d,
                     &found.algo, workspace, kWorkspace, nullptr);
  std::vector<__half> host(kBatch * stride_d);
  const cudaError_t error =
      cudaMemcpy(host.data(), d, host.size() * sizeof(__half), cudaMemcpyDeviceToHost);
  int off = 0;
  for (int batch = 0; batch < kBatch; ++batch)
    for (int j = 0; j < kN; ++j)
      for (int i = 0; i < kM; ++i)
        off += __half2float(host[batch * stride_d + j * ldd + i]) != kK - 4;
  Verdict verdict = right;
  if (status != CUBLAS_STATUS_SUCCESS) {
    verdict = refused;
    std::printf("cublasLtMatmul returned %d after a heuristic that succeeded\n",
                static_cast<int>(status));
  } else if (error != cudaSuccess || off != 0) {
    verdict = wrong;
    std::printf("%s\n", error != cudaSuccess ? cudaGetErrorString(error) : "wrong");
  } else {
    std::printf("right\n");
  }
  std::fflush(stdout);
  _exit(verdict);
}

struct Case {
  int ldc, ldd;
};
// Both even, both odd, and one of each.
const Case kCases[] = {{32, 32}, {32, 34}, {34, 32}, {33, 33}, {35, 33},
                       {33, 32}, {33, 34}, {32, 33}, {32, 35}, {34, 33}};

}  // namespace

int main() {
  std::printf("cuBLASLt %zu\n", cublasLtGetVersion());
  std::fflush(stdout);
  bool shows = false;
  for (const Case& c : kCases) {
    const pid_t child = fork();
    if (child == 0) run(c.ldc, c.ldd);
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) == not_tried) return 2;
    shows = shows || WEXITSTATUS(status) == wrong;
  }
  std::printf(shows ? "the bug shows\n" : "the bug does not show\n");
  return shows ? 1 : 0;
}
