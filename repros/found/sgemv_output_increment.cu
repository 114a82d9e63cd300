// cuBLAS sgemv: an illegal access or a wrong result where (m - 1) * incy reaches 2^31, on a GPU of
// 80 GB.
//
//   nvcc -o sgemv_output_increment sgemv_output_increment.cu -lcublas && ./sgemv_output_increment
//
// y = op(A) x + beta y with 4 elements of y that are `incy` apart and 2 of x. With incy =
// 715,827,882 the last element of y has an index below 2^31; with 715,827,883 it has the index
// 2^31 + 1. Both fit an int, and y has all the elements that the documentation of cublas<t>gemv
// asks for. Each case runs in a process of its own. Exit 1: the bug shows, 0: it does not, 2: it
// could not be tried.
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int kM = 4, kK = 2;

struct Case {
  cublasOperation_t op;
  bool wide;  // cublasSgemv_64
  float beta;
  int incy;
};

void need(bool holds, const char* what) {
  if (holds) return;
  std::printf("%s failed\n", what);
  std::exit(2);
}

float a_at(int i, int t) {
  return static_cast<float>((i + t) % 3 + 1);
}

// One case. Ends the process: 0 right, 1 wrong or an error.
void run(const Case& c) {
  cublasHandle_t blas = nullptr;
  need(cublasCreate(&blas) == CUBLAS_STATUS_SUCCESS, "cublasCreate");
  const std::size_t elements = static_cast<std::size_t>(kM - 1) * c.incy + 1;
  float *a = nullptr, *x = nullptr, *y = nullptr;
  need(cudaMalloc(&y, elements * sizeof(float)) == cudaSuccess, "cudaMalloc of y");
  need(cudaMalloc(&a, sizeof(float) * kM * kK) == cudaSuccess, "cudaMalloc of A");
  need(cudaMalloc(&x, sizeof(float) * kK) == cudaSuccess, "cudaMalloc of x");
  const bool plain = c.op == CUBLAS_OP_N;
  const int rows = plain ? kM : kK, columns = plain ? kK : kM;  // of A as it is stored
  std::vector<float> host_a(kM * kK), host_x(kK);
  for (int i = 0; i < kM; ++i)
    for (int t = 0; t < kK; ++t) host_a[plain ? i + t * rows : t + i * rows] = a_at(i, t);
  for (int t = 0; t < kK; ++t) host_x[t] = static_cast<float>(t + 1);
  cudaMemcpy(a, host_a.data(), host_a.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(x, host_x.data(), host_x.size() * sizeof(float), cudaMemcpyHostToDevice);
  const auto address = [&](int i) { return y + static_cast<std::size_t>(i) * c.incy; };
  for (int i = 0; i < kM; ++i) {
    const float before = static_cast<float>(10 * i);
    cudaMemcpy(address(i), &before, sizeof before, cudaMemcpyHostToDevice);
  }
  const float one = 1;
  const cublasStatus_t status =
      c.wide ? cublasSgemv_64(blas, c.op, rows, columns, &one, a, rows, x, 1, &c.beta, y, c.incy)
             : cublasSgemv(blas, c.op, rows, columns, &one, a, rows, x, 1, &c.beta, y, c.incy);
  need(status == CUBLAS_STATUS_SUCCESS, "cublasSgemv");
  const cudaError_t error = cudaDeviceSynchronize();
  double largest = 0;
  for (int i = 0; error == cudaSuccess && i < kM; ++i) {
    double expected = c.beta * 10 * i;
    for (int t = 0; t < kK; ++t) expected += a_at(i, t) * host_x[t];
    float got = 0;
    cudaMemcpy(&got, address(i), sizeof got, cudaMemcpyDeviceToHost);
    const double off = expected > got ? expected - got : got - expected;
    if (off > largest) largest = off;
  }
  int version = 0;
  cublasGetVersion(blas, &version);
  std::printf("cuBLAS %d, %s, op %s, beta %g, incy %d, (m - 1) * incy = %lld: ", version,
              c.wide ? "cublasSgemv_64" : "cublasSgemv", plain ? "N" : "T", c.beta, c.incy,
              static_cast<long long>(kM - 1) * c.incy);
  if (error != cudaSuccess)
    std::printf("%s\n", cudaGetErrorString(error));
  else
    std::printf("largest error %g\n", largest);
  std::fflush(stdout);
  _exit(error != cudaSuccess || largest != 0 ? 1 : 0);
}

constexpr int kBelow = 715827882, kBeyond = 715827883;

}  // namespace

int main() {
  bool shows = false;
  for (const bool wide : {false, true})
    for (const auto op : {CUBLAS_OP_N, CUBLAS_OP_T})
      for (const float beta : {0.0f, 1.0f})
        for (const int incy : {kBelow, kBeyond}) {
          const pid_t child = fork();
          if (child == 0) run({op, wide, beta, incy});
          int status = 0;
          waitpid(child, &status, 0);
          if (!WIFEXITED(status) || WEXITSTATUS(status) == 2) return 2;
          if (incy == kBelow && WEXITSTATUS(status) != 0) return 2;
          shows = shows || WEXITSTATUS(status) == 1;
        }
  std::printf(shows ? "the bug shows\n" : "the bug does not show\n");
  return shows ? 1 : 0;
}
