// cuSPARSE, COO: a misaligned access where an array is aligned to its elements and to no more.
//
//   nvcc -o coo_alignment coo_alignment.cu -lcusparse && ./coo_alignment
//
// y = A x by cusparseSpMV with algorithm CUSPARSE_SPMV_ALG_DEFAULT, 1 and 2 of COO, and C = A B
// with two columns by cusparseSpMM with CUSPARSE_SPMM_ALG_DEFAULT, 32-bit indices, in f32, f64 and
// complex. Each array in turn begins one element after an address that cudaMalloc returned. The
// documentation of cusparseCreateCoo asks for that and no more: "cooRowInd,
// cooColInd, and cooValues must be aligned to the size of the datatypes specified by cooIdxType,
// cooIdxType, and valueType". Each case runs in a process of its own. Exit 1: the bug shows, 0: it
// does not, 2: it could not be tried.
#include <cuComplex.h>
#include <cuda_runtime.h>
#include <cusparse.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr int kRows = 4096, kColumns = 257;

enum Array { none, row_indices, column_indices, values, dense_in, dense_out, kArrays };
const char* const kNames[] = {"no array", "cooRowInd", "cooColInd", "cooValues", "x", "y"};

// A product with a vector, or with a matrix of two columns.
struct Product {
  const char* name;
  bool matrix;
  int algorithm;
};
const Product kProducts[] = {{"SpMV, default", false, CUSPARSE_SPMV_ALG_DEFAULT},
                             {"SpMV, COO 1", false, CUSPARSE_SPMV_COO_ALG1},
                             {"SpMV, COO 2", false, CUSPARSE_SPMV_COO_ALG2},
                             {"SpMM, default", true, CUSPARSE_SPMM_ALG_DEFAULT}};

template <class T>
struct Element;
template <>
struct Element<float> {
  static constexpr cudaDataType type = CUDA_R_32F;
  static constexpr const char* name = "f32";
  static float of(int value) { return static_cast<float>(value); }
};
template <>
struct Element<double> {
  static constexpr cudaDataType type = CUDA_R_64F;
  static constexpr const char* name = "f64";
  static double of(int value) { return value; }
};
template <>
struct Element<cuComplex> {
  static constexpr cudaDataType type = CUDA_C_32F;
  static constexpr const char* name = "complex f32";
  static cuComplex of(int value) { return make_cuComplex(static_cast<float>(value), 0); }
};
template <>
struct Element<cuDoubleComplex> {
  static constexpr cudaDataType type = CUDA_C_64F;
  static constexpr const char* name = "complex f64";
  static cuDoubleComplex of(int value) { return make_cuDoubleComplex(value, 0); }
};

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

// Starts the product. Both kinds have the same steps with other types.
template <class T>
void multiply(cusparseHandle_t sparse, const Product& product, cusparseSpMatDescr_t a, T* x, T* y) {
  const T one = Element<T>::of(1), zero = Element<T>::of(0);
  constexpr cudaDataType type = Element<T>::type;
  constexpr cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
  std::size_t bytes = 0;
  void* buffer = nullptr;
  if (product.matrix) {
    const auto algorithm = static_cast<cusparseSpMMAlg_t>(product.algorithm);
    cusparseDnMatDescr_t b = nullptr, c = nullptr;
    cusparseCreateDnMat(&b, kColumns, 2, kColumns, x, type, CUSPARSE_ORDER_COL);
    cusparseCreateDnMat(&c, kRows, 2, kRows, y, type, CUSPARSE_ORDER_COL);
    need(cusparseSpMM_bufferSize(sparse, plain, plain, &one, a, b, &zero, c, type, algorithm,
                                 &bytes) == CUSPARSE_STATUS_SUCCESS,
         "cusparseSpMM_bufferSize");
    need(cudaMalloc(&buffer, bytes + 1) == cudaSuccess, "cudaMalloc");
    need(cusparseSpMM(sparse, plain, plain, &one, a, b, &zero, c, type, algorithm, buffer) ==
             CUSPARSE_STATUS_SUCCESS,
         "cusparseSpMM");
    return;
  }
  const auto algorithm = static_cast<cusparseSpMVAlg_t>(product.algorithm);
  cusparseDnVecDescr_t vx = nullptr, vy = nullptr;
  cusparseCreateDnVec(&vx, kColumns, x, type);
  cusparseCreateDnVec(&vy, kRows, y, type);
  need(cusparseSpMV_bufferSize(sparse, plain, &one, a, vx, &zero, vy, type, algorithm, &bytes) ==
           CUSPARSE_STATUS_SUCCESS,
       "cusparseSpMV_bufferSize");
  need(cudaMalloc(&buffer, bytes + 1) == cudaSuccess, "cudaMalloc");
  need(cusparseSpMV(sparse, plain, &one, a, vx, &zero, vy, type, algorithm, buffer) ==
           CUSPARSE_STATUS_SUCCESS,
       "cusparseSpMV");
}

// One case. Ends the process: 0 right, 1 wrong or an error.
template <class T>
void run(const Product& product, int late) {
  const auto of = Element<T>::of;
  std::vector<int> rows, columns;
  std::vector<T> elements, x(2 * kColumns, of(2)), y(2 * kRows, of(-1));
  for (int r = 0; r < kRows; ++r) {
    rows.push_back(r);
    columns.push_back(r % kColumns);
    elements.push_back(of(r % 3 + 1));
  }
  int* const d_rows = on_device(rows, late == row_indices);
  int* const d_columns = on_device(columns, late == column_indices);
  T* const d_values = on_device(elements, late == values);
  T* const d_x = on_device(x, late == dense_in);
  T* const d_y = on_device(y, late == dense_out);
  cusparseHandle_t sparse = nullptr;
  need(cusparseCreate(&sparse) == CUSPARSE_STATUS_SUCCESS, "cusparseCreate");
  int version = 0;
  cusparseGetVersion(sparse, &version);
  cusparseSpMatDescr_t a = nullptr;
  need(
      cusparseCreateCoo(&a, kRows, kColumns, kRows, d_rows, d_columns, d_values, CUSPARSE_INDEX_32I,
                        CUSPARSE_INDEX_BASE_ZERO, Element<T>::type) == CUSPARSE_STATUS_SUCCESS,
      "cusparseCreateCoo");
  multiply(sparse, product, a, d_x, d_y);
  const cudaError_t error = cudaMemcpy(y.data(), d_y, y.size() * sizeof(T), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int column = 0; column < (product.matrix ? 2 : 1); ++column)
    for (int r = 0; r < kRows; ++r) {
      const T expected = of(2 * (r % 3 + 1));
      wrong += std::memcmp(&y[column * kRows + r], &expected, sizeof(T)) != 0;
    }
  std::printf("cuSPARSE %d, %s, %s, %s one element late: %s%s\n", version, product.name,
              Element<T>::name, kNames[late],
              error != cudaSuccess ? cudaGetErrorString(error) : (wrong != 0 ? "wrong" : "right"),
              late == none ? " (all aligned to 256 bytes)" : "");
  std::fflush(stdout);
  _exit(error != cudaSuccess || wrong != 0 ? 1 : 0);
}

using Run = void (*)(const Product&, int);
const Run kRuns[] = {run<float>, run<double>, run<cuComplex>, run<cuDoubleComplex>};

}  // namespace

int main() {
  bool shows = false;
  for (const Product& product : kProducts)
    for (const Run run_type : kRuns)
      for (int late = none; late < kArrays; ++late) {
        const pid_t child = fork();
        if (child == 0) run_type(product, late);
        int status = 0;
        waitpid(child, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) == 2) return 2;
        if (late == none && WEXITSTATUS(status) != 0) return 2;
        shows = shows || WEXITSTATUS(status) == 1;
      }
  std::printf(shows ? "the bug shows\n" : "the bug does not show\n");
  return shows ? 1 : 0;
}
