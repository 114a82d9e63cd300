#include "cublas/library.h"

namespace redzone::libraries::cublas {
namespace {

HandledLibrary made() {
  HandledLibrary blas("cuBLAS", {"libcublas.so.13", "libcublas.so.12", "libcublas.so"},
                      "cublasCreate_v2",
                      {"cublasSetMathMode", "cublasSetStream_v2", "cublasSetWorkspace_v2"});
  // CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION (cublasMath_t): computes sums in the compute
  // type, so that a result does not depend on how a product was split.
  constexpr int kNoReducedReduction = 16;
  if (blas.problem().empty())
    blas.function<int(void*, int)>("cublasSetMathMode")(blas.handle(), kNoReducedReduction);
  return blas;
}

}  // namespace

HandledLibrary& library() {
  static HandledLibrary one = made();
  return one;
}

int use(void* stream, void* workspace) {
  const HandledLibrary& blas = library();
  const int status = blas.function<int(void*, void*)>("cublasSetStream_v2")(blas.handle(), stream);
  if (status != 0) return status;
  return blas.function<int(void*, void*, std::size_t)>("cublasSetWorkspace_v2")(
      blas.handle(), workspace, kWorkspaceBytes);
}

}  // namespace redzone::libraries::cublas
