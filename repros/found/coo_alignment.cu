// cuSPARSE, COO: a misaligned access where an array is aligned to its elements and to no more.
//
//   nvcc -o coo_alignment coo_alignment.cu -lcusparse && ./coo_alignment
//
// y = A x by cusparseSpMV with algorithm CUSPARSE_SPMV_ALG_DEFAULT, 1 and 2 of COO, in f32 with
// 32-bit indices. Each array in turn begins one element (4 bytes) after an address that cudaMalloc
// returned. The documentation of cusparseCreateCoo asks for that and no more: "cooRowInd,
// cooColInd, and cooValues must be aligned to the size of the datatypes specified by cooIdxType,
// cooIdxType, and valueType". Each case runs in a process of its own. Exit 1: the bug shows, 0: it
// does not, 2: it could not be tried.
#include <cuda_runtime.h>
#include <cusparse.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int kRows = 4096, kColumns = 257;

enum Array { none, row_indices, column_indices, values, x_vector, y_vector, kArrays };
const char* const kNames[] = {"no array", "cooRowInd", "cooColInd", "cooValues", "x", "y"};

void need(bool holds, const char* what) {
  if (holds) return;
  std::printf("%s failed\n", what);
  std::exit(2);
}

// `n` elements in device memory, which begin one element late if `late`.
template <class T>
T* on_device(const std::vector<T>& host, bool late) {
  T* base = nullptr;
  need(cudaMalloc(&base, (host.size() + 4) * sizeof(T)) == cudaSuccess, "cudaMalloc");
  base += late ? 1 : 0;
  cudaMemcpy(base, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  return base;
}

// One case. Ends the process: 0 right, 1 wrong or an error.
void run(cusparseSpMVAlg_t algorithm, int late) {
  std::vector<int> rows, columns;
  std::vector<float> elements, x(kColumns, 2), y(kRows, -1);
  for (int r = 0; r < kRows; ++r) {
    rows.push_back(r);
    columns.push_back(r % kColumns);
    elements.push_back(static_cast<float>(r % 3 + 1));
  }
  int* const d_rows = on_device(rows, late == row_indices);
  int* const d_columns = on_device(columns, late == column_indices);
  float* const d_values = on_device(elements, late == values);
  float* const d_x = on_device(x, late == x_vector);
  float* const d_y = on_device(y, late == y_vector);
  cusparseHandle_t sparse = nullptr;
  need(cusparseCreate(&sparse) == CUSPARSE_STATUS_SUCCESS, "cusparseCreate");
  int version = 0;
  cusparseGetVersion(sparse, &version);
  cusparseSpMatDescr_t a = nullptr;
  cusparseDnVecDescr_t vx = nullptr, vy = nullptr;
  need(
      cusparseCreateCoo(&a, kRows, kColumns, kRows, d_rows, d_columns, d_values, CUSPARSE_INDEX_32I,
                        CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F) == CUSPARSE_STATUS_SUCCESS,
      "cusparseCreateCoo");
  cusparseCreateDnVec(&vx, kColumns, d_x, CUDA_R_32F);
  cusparseCreateDnVec(&vy, kRows, d_y, CUDA_R_32F);
  const float one = 1, zero = 0;
  std::size_t bytes = 0;
  void* buffer = nullptr;
  need(cusparseSpMV_bufferSize(sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, vx, &zero, vy,
                               CUDA_R_32F, algorithm, &bytes) == CUSPARSE_STATUS_SUCCESS,
       "cusparseSpMV_bufferSize");
  need(cudaMalloc(&buffer, bytes + 1) == cudaSuccess, "cudaMalloc");
  need(cusparseSpMV(sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, vx, &zero, vy, CUDA_R_32F,
                    algorithm, buffer) == CUSPARSE_STATUS_SUCCESS,
       "cusparseSpMV");
  const cudaError_t error =
      cudaMemcpy(y.data(), d_y, y.size() * sizeof(float), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int r = 0; r < kRows; ++r) wrong += y[r] != 2 * elements[r];
  std::printf("cuSPARSE %d, algorithm %d, %s one element late: %s%s\n", version, algorithm,
              kNames[late],
              error != cudaSuccess ? cudaGetErrorString(error) : (wrong != 0 ? "wrong" : "right"),
              late == none ? " (all aligned to 256 bytes)" : "");
  std::fflush(stdout);
  _exit(error != cudaSuccess || wrong != 0 ? 1 : 0);
}

}  // namespace

int main() {
  bool shows = false;
  for (const auto algorithm :
       {CUSPARSE_SPMV_ALG_DEFAULT, CUSPARSE_SPMV_COO_ALG1, CUSPARSE_SPMV_COO_ALG2})
    for (int late = none; late < kArrays; ++late) {
      const pid_t child = fork();
      if (child == 0) run(algorithm, late);
      int status = 0;
      waitpid(child, &status, 0);
      if (!WIFEXITED(status) || WEXITSTATUS(status) == 2) return 2;
      if (late == none && WEXITSTATUS(status) != 0) return 2;
      shows = shows || WEXITSTATUS(status) == 1;
    }
  std::printf(shows ? "the bug shows\n" : "the bug does not show\n");
  return shows ? 1 : 0;
}
