// A cuBLAS that computes on the CPU, at once and from the formulas of the documentation: what the
// targets over cuBLAS are tested with where there is no GPU. It has the routines that the tests
// name, in f32.
#include <cstddef>
#include <cstdint>

namespace {

constexpr int kInvalidValue = 7;
constexpr int kNormal = 0, kLower = 0, kUnit = 1, kLeft = 0;

// op(A) of a column-major matrix.
struct Matrix {
  const float* base;
  std::int64_t ld;
  int op = kNormal;

  float at(std::int64_t i, std::int64_t j) const {
    return op == kNormal ? base[i + j * ld] : base[j + i * ld];
  }
};

// A symmetric matrix of which one triangle is stored.
struct Symmetric {
  const float* base;
  std::int64_t ld;
  int uplo;

  float at(std::int64_t i, std::int64_t j) const {
    const bool stored = uplo == kLower ? i >= j : i <= j;
    return stored ? base[i + j * ld] : base[j + i * ld];
  }
};

// op(A) of a triangular matrix.
struct Triangular {
  const float* base;
  std::int64_t ld;
  int uplo, op, diag;

  float at(std::int64_t i, std::int64_t j) const {
    const std::int64_t r = op == kNormal ? i : j, c = op == kNormal ? j : i;
    if (r == c && diag == kUnit) return 1;
    const bool stored = uplo == kLower ? r >= c : r <= c;
    return stored ? base[r + c * ld] : 0;
  }
};

// Whether element (i, j) is in the triangle.
bool within(int uplo, std::int64_t i, std::int64_t j) {
  return uplo == kLower ? i >= j : i <= j;
}

void put(float& to, float sum, float beta) {
  to = beta == 0 ? sum : sum + beta * to;
}

template <class A, class B>
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, float alpha, const A& a, const B& b,
              float beta, float* c, std::int64_t ldc) {
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i) {
      float sum = 0;
      for (std::int64_t t = 0; t < k; ++t) sum += a.at(i, t) * b.at(t, j);
      put(c[i + j * ldc], alpha * sum, beta);
    }
}

int gemm(int transa, int transb, std::int64_t m, std::int64_t n, std::int64_t k, const float* alpha,
         const float* a, std::int64_t lda, const float* b, std::int64_t ldb, const float* beta,
         float* c, std::int64_t ldc) {
  const auto least = [](std::int64_t rows) { return rows > 1 ? rows : 1; };
  if (lda < least(transa == kNormal ? m : k) || ldb < least(transb == kNormal ? k : n) ||
      ldc < least(m))
    return kInvalidValue;
  multiply(m, n, k, *alpha, Matrix{a, lda, transa}, Matrix{b, ldb, transb}, *beta, c, ldc);
  return 0;
}

int gemv(int trans, std::int64_t m, std::int64_t n, const float* alpha, const float* a,
         std::int64_t lda, const float* x, std::int64_t incx, const float* beta, float* y,
         std::int64_t incy) {
  if (lda < (m > 1 ? m : 1) || incx == 0 || incy == 0) return kInvalidValue;
  const std::int64_t rows = trans == kNormal ? m : n, terms = trans == kNormal ? n : m;
  const Matrix matrix{a, lda, trans};
  for (std::int64_t i = 0; i < rows; ++i) {
    float sum = 0;
    for (std::int64_t t = 0; t < terms; ++t) sum += matrix.at(i, t) * x[t * incx];
    put(y[i * incy], *alpha * sum, *beta);
  }
  return 0;
}

}  // namespace

#define FAKE extern "C" __attribute__((visibility("default"))) int

FAKE cublasCreate_v2(void** handle) {
  static int one = 0;
  *handle = &one;
  return 0;
}
FAKE cublasSetMathMode(void*, int) {
  return 0;
}
FAKE cublasSetStream_v2(void*, void*) {
  return 0;
}
FAKE cublasSetWorkspace_v2(void*, void*, std::size_t) {
  return 0;
}

FAKE cublasSgemm_v2(void*, int transa, int transb, int m, int n, int k, const float* alpha,
                    const float* a, int lda, const float* b, int ldb, const float* beta, float* c,
                    int ldc) {
  return gemm(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
FAKE cublasSgemm_v2_64(void*, int transa, int transb, std::int64_t m, std::int64_t n,
                       std::int64_t k, const float* alpha, const float* a, std::int64_t lda,
                       const float* b, std::int64_t ldb, const float* beta, float* c,
                       std::int64_t ldc) {
  return gemm(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
FAKE cublasSgemmStridedBatched(void*, int transa, int transb, int m, int n, int k,
                               const float* alpha, const float* a, int lda, long long stride_a,
                               const float* b, int ldb, long long stride_b, const float* beta,
                               float* c, int ldc, long long stride_c, int batch) {
  for (int i = 0; i < batch; ++i)
    if (const int status = gemm(transa, transb, m, n, k, alpha, a + i * stride_a, lda,
                                b + i * stride_b, ldb, beta, c + i * stride_c, ldc))
      return status;
  return 0;
}
FAKE cublasSgemv_v2(void*, int trans, int m, int n, const float* alpha, const float* a, int lda,
                    const float* x, int incx, const float* beta, float* y, int incy) {
  return gemv(trans, m, n, alpha, a, lda, x, incx, beta, y, incy);
}
FAKE cublasSgemv_v2_64(void*, int trans, std::int64_t m, std::int64_t n, const float* alpha,
                       const float* a, std::int64_t lda, const float* x, std::int64_t incx,
                       const float* beta, float* y, std::int64_t incy) {
  return gemv(trans, m, n, alpha, a, lda, x, incx, beta, y, incy);
}
FAKE cublasSsymv_v2(void*, int uplo, int n, const float* alpha, const float* a, int lda,
                    const float* x, int incx, const float* beta, float* y, int incy) {
  const Symmetric matrix{a, lda, uplo};
  for (std::int64_t i = 0; i < n; ++i) {
    float sum = 0;
    for (std::int64_t t = 0; t < n; ++t) sum += matrix.at(i, t) * x[t * incx];
    put(y[i * incy], *alpha * sum, *beta);
  }
  return 0;
}
// Element (i, j) of the band is at row k + i - j (upper) or i - j (lower) of column j.
FAKE cublasSsbmv_v2(void*, int uplo, int n, int k, const float* alpha, const float* a, int lda,
                    const float* x, int incx, const float* beta, float* y, int incy) {
  for (std::int64_t i = 0; i < n; ++i) {
    float sum = 0;
    for (std::int64_t t = 0; t < n; ++t) {
      std::int64_t r = i, c = t;
      if ((uplo == kLower) != (r >= c)) r = t, c = i;
      if (r - c > k || c - r > k) continue;
      sum += a[(uplo == kLower ? 0 : k) + r - c + c * lda] * x[t * incx];
    }
    put(y[i * incy], *alpha * sum, *beta);
  }
  return 0;
}
// The columns of the triangle follow each other. Only elements of it are asked for.
FAKE cublasSspmv_v2(void*, int uplo, int n, const float* alpha, const float* packed, const float* x,
                    int incx, const float* beta, float* y, int incy) {
  const auto at = [=](std::int64_t i, std::int64_t j) {
    std::int64_t before = 0;
    for (std::int64_t c = 0; c < j; ++c) before += uplo == kLower ? n - c : c + 1;
    return packed[before + (uplo == kLower ? i - j : i)];
  };
  for (std::int64_t i = 0; i < n; ++i) {
    float sum = 0;
    for (std::int64_t t = 0; t < n; ++t)
      sum += (within(uplo, i, t) ? at(i, t) : at(t, i)) * x[t * incx];
    put(y[i * incy], *alpha * sum, *beta);
  }
  return 0;
}
FAKE cublasStrmv_v2(void*, int uplo, int trans, int diag, int n, const float* a, int lda, float* x,
                    int incx) {
  const Triangular matrix{a, lda, uplo, trans, diag};
  float* const old = new float[static_cast<std::size_t>(n)];
  for (std::int64_t i = 0; i < n; ++i) old[i] = x[i * incx];
  for (std::int64_t i = 0; i < n; ++i) {
    float sum = 0;
    for (std::int64_t t = 0; t < n; ++t) sum += matrix.at(i, t) * old[t];
    x[i * incx] = sum;
  }
  delete[] old;
  return 0;
}
FAKE cublasSger_v2(void*, int m, int n, const float* alpha, const float* x, int incx,
                   const float* y, int incy, float* a, int lda) {
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i) a[i + j * lda] += *alpha * x[i * incx] * y[j * incy];
  return 0;
}
FAKE cublasSsyr2_v2(void*, int uplo, int n, const float* alpha, const float* x, int incx,
                    const float* y, int incy, float* a, int lda) {
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i)
      if (within(uplo, i, j))
        a[i + j * lda] += *alpha * (x[i * incx] * y[j * incy] + y[i * incy] * x[j * incx]);
  return 0;
}
FAKE cublasSsymm_v2(void*, int side, int uplo, int m, int n, const float* alpha, const float* a,
                    int lda, const float* b, int ldb, const float* beta, float* c, int ldc) {
  const Symmetric symmetric{a, lda, uplo};
  const Matrix other{b, ldb};
  if (side == kLeft)
    multiply(m, n, m, *alpha, symmetric, other, *beta, c, ldc);
  else
    multiply(m, n, n, *alpha, other, symmetric, *beta, c, ldc);
  return 0;
}
FAKE cublasStrmm_v2(void*, int side, int uplo, int trans, int diag, int m, int n,
                    const float* alpha, const float* a, int lda, const float* b, int ldb, float* c,
                    int ldc) {
  const Triangular triangular{a, lda, uplo, trans, diag};
  const Matrix other{b, ldb};
  if (side == kLeft)
    multiply(m, n, m, *alpha, triangular, other, 0.0f, c, ldc);
  else
    multiply(m, n, n, *alpha, other, triangular, 0.0f, c, ldc);
  return 0;
}
FAKE cublasSsyr2k_v2(void*, int uplo, int trans, int n, int k, const float* alpha, const float* a,
                     int lda, const float* b, int ldb, const float* beta, float* c, int ldc) {
  const Matrix left{a, lda, trans}, right{b, ldb, trans};
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      if (!within(uplo, i, j)) continue;
      float sum = 0;
      for (std::int64_t t = 0; t < k; ++t)
        sum += left.at(i, t) * right.at(j, t) + right.at(i, t) * left.at(j, t);
      put(c[i + j * ldc], *alpha * sum, *beta);
    }
  return 0;
}
FAKE cublasSgeam(void*, int transa, int transb, int m, int n, const float* alpha, const float* a,
                 int lda, const float* beta, const float* b, int ldb, float* c, int ldc) {
  const Matrix left{a, lda, transa}, right{b, ldb, transb};
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i)
      c[i + j * ldc] = *alpha * left.at(i, j) + *beta * right.at(i, j);
  return 0;
}
FAKE cublasSdgmm(void*, int side, int m, int n, const float* a, int lda, const float* x, int incx,
                 float* c, int ldc) {
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i)
      c[i + j * ldc] = a[i + j * lda] * x[(side == kLeft ? i : j) * incx];
  return 0;
}
