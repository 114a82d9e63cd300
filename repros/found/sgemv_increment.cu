// cuBLAS sgemv: an illegal access where (k - 1) * incx reaches 2^31, on a GPU of 80 GB.
//
//   nvcc -o sgemv_increment sgemv_increment.cu -lcublas && ./sgemv_increment
//
// y = A^T x with an A of 513 x 129 (column-major, lda = 513) and an x of 513 elements that are
// `incx` apart. incx = 4,194,303 gives the right y. With incx = 4,194,304, where the last element
// of x has index 2^31, the kernel reads outside of x. Both fit an int, and x has all the elements
// that the documentation of cublas<t>gemv asks for. Exit 1: the bug shows, 0: it does not, 2: it
// could not be tried.
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int kRows = 513, kColumns = 129;

void need(bool holds, const char* what) {
  if (holds) return;
  std::printf("%s failed\n", what);
  std::exit(2);
}

// One case. Ends the process: 0 right, 1 wrong or an error.
void run(int incx, bool wide) {
  cublasHandle_t blas = nullptr;
  need(cublasCreate(&blas) == CUBLAS_STATUS_SUCCESS, "cublasCreate");
  const std::size_t elements = static_cast<std::size_t>(kRows - 1) * incx + 1;
  float *a = nullptr, *x = nullptr, *y = nullptr;
  need(cudaMalloc(&x, elements * sizeof(float)) == cudaSuccess, "cudaMalloc of x");
  need(cudaMalloc(&a, sizeof(float) * kRows * kColumns) == cudaSuccess, "cudaMalloc of A");
  need(cudaMalloc(&y, sizeof(float) * kColumns) == cudaSuccess, "cudaMalloc of y");
  std::vector<float> host_a(kRows * kColumns), host_x(kRows), host_y(kColumns);
  for (int i = 0; i < kRows * kColumns; ++i) host_a[i] = static_cast<float>(i % 3 + 1);
  for (int i = 0; i < kRows; ++i) host_x[i] = static_cast<float>(i % 2 + 1);
  cudaMemcpy(a, host_a.data(), host_a.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy2D(x, sizeof(float) * incx, host_x.data(), sizeof(float), sizeof(float), kRows,
               cudaMemcpyHostToDevice);
  const float one = 1, zero = 0;
  const cublasStatus_t status =
      wide
          ? cublasSgemv_64(blas, CUBLAS_OP_T, kRows, kColumns, &one, a, kRows, x, incx, &zero, y, 1)
          : cublasSgemv(blas, CUBLAS_OP_T, kRows, kColumns, &one, a, kRows, x, incx, &zero, y, 1);
  need(status == CUBLAS_STATUS_SUCCESS, "cublasSgemv");
  const cudaError_t error =
      cudaMemcpy(host_y.data(), y, host_y.size() * sizeof(float), cudaMemcpyDeviceToHost);
  double largest = 0;
  for (int c = 0; c < kColumns; ++c) {
    double expected = 0;
    for (int r = 0; r < kRows; ++r) expected += host_a[c * kRows + r] * host_x[r];
    const double off = expected > host_y[c] ? expected - host_y[c] : host_y[c] - expected;
    if (off > largest) largest = off;
  }
  int version = 0;
  cublasGetVersion(blas, &version);
  std::printf("cuBLAS %d, %s, incx %d, (k - 1) * incx = %lld: ", version,
              wide ? "cublasSgemv_64" : "cublasSgemv", incx,
              static_cast<long long>(kRows - 1) * incx);
  if (error != cudaSuccess)
    std::printf("%s\n", cudaGetErrorString(error));
  else
    std::printf("largest error %g\n", largest);
  std::fflush(stdout);
  _exit(error != cudaSuccess || largest != 0 ? 1 : 0);
}

}  // namespace

int main() {
  bool shows = false;
  for (const bool wide : {false, true})
    for (const int incx : {4194303, 4194304}) {
      const pid_t child = fork();
      if (child == 0) run(incx, wide);
      int status = 0;
      waitpid(child, &status, 0);
      if (!WIFEXITED(status) || WEXITSTATUS(status) == 2) return 2;
      if (incx == 4194303 && WEXITSTATUS(status) != 0) return 2;
      shows = shows || WEXITSTATUS(status) == 1;
    }
  std::printf(shows ? "the bug shows\n" : "the bug does not show\n");
  return shows ? 1 : 0;
}
