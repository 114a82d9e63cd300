// One call of a cuBLAS routine: converts tensors and knobs of a plan to arguments, and calls the
// entry point that takes them.
//
// Source of all rules: the cuBLAS documentation of CUDA 13.0, by section.
#pragma once

#include <redzone/target.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "cublas/library.h"

namespace redzone::libraries::cublas {

// The type letter in a routine's name and the element type of its tensors.
struct Type {
  char letter = 'S';
  DType dtype = DType::f32;
};

// A size, a leading dimension or a stride: int in a 32-bit entry point, int64_t in a `_64` one
// ("2.1. 64-bit Integer Interface").
struct Index {
  std::int64_t value = 0;
};

// Values of cublasOperation_t, cublasFillMode_t, cublasDiagType_t and cublasSideMode_t for their
// letters.
int op_of(const std::string& letter);
int uplo_of(const std::string& letter);
int diag_of(const std::string& letter);
int side_of(const std::string& letter);

// A matrix as a column-major routine takes it: op(stored matrix) is the tensor's matrix.
struct Stored {
  void* base = nullptr;
  int op = 0;
  Index ld;
};

class BlasCall {
 public:
  // Sets the library's stream and workspace to those of the call.
  BlasCall(Context& ctx, Type type);

  Context& context() const { return ctx_; }
  Index dim(std::string_view name) const { return {ctx_.dim(name)}; }
  int op(std::string_view knob) const { return op_of(ctx_.knob_str(knob)); }
  int uplo() const { return uplo_of(ctx_.knob_str("uplo")); }
  int diag() const { return diag_of(ctx_.knob_str("diag")); }
  int side() const { return side_of(ctx_.knob_str("side")); }
  void* base(std::string_view tensor) const { return ctx_.tensor(tensor).base; }
  // The pitch of a tensor {columns, rows} or {batch, columns, rows}, or of a vector {n, 1}.
  Index pitch(std::string_view tensor) const;
  // The batch stride, in elements, of a tensor {batch, ..}.
  long long batch_stride(std::string_view tensor) const { return ctx_.tensor(tensor).strides[0]; }
  // The last two dims of a tensor as a column-major matrix, and the operation that converts it back
  // to the tensor's [rows, columns].
  Stored stored(std::string_view tensor) const;

  // The value of a knob in the type of the routine; for routines with 32-bit compute, in f32.
  const void* scalar(std::string_view knob, DType type);
  const void* scalar(std::string_view knob) { return scalar(knob, type_.dtype); }

  // `routine` is the name without `cublas` and the type letter, e.g. "gemv_v2". Index arguments
  // have the width of the plan's entry point; a plan whose arguments do not fit is not applicable.
  template <class... A>
  void invoke(const std::string& routine, A... args) {
    invoke_named(std::string("cublas") + type_.letter + routine, args...);
  }
  template <class... A>
  void invoke_named(std::string name, A... args) {
    if (ctx_.ended()) return;
    const bool wide = ctx_.knob("api") == 64;
    if (!wide && !(fits(args) && ...))
      return ctx_.unsupported("an argument exceeds int: only the _64 entry point takes it");
    if (wide) name += "_64";
    void* const function = library_.symbol(name);
    if (function == nullptr) return ctx_.unsupported("this cuBLAS has no " + name);
    report(name, wide ? call<std::int64_t>(function, args...) : call<int>(function, args...));
  }

 private:
  template <class A>
  static bool fits(const A& arg) {
    if constexpr (std::is_same_v<A, Index>)
      return arg.value <= std::numeric_limits<int>::max();
    else
      return true;
  }
  template <class I, class A>
  using Passed = std::conditional_t<std::is_same_v<A, Index>, I, A>;
  template <class I, class A>
  static Passed<I, A> passed(const A& arg) {
    if constexpr (std::is_same_v<A, Index>)
      return static_cast<I>(arg.value);
    else
      return arg;
  }
  template <class I, class... A>
  int call(void* function, A... args) {
    return reinterpret_cast<int (*)(void*, Passed<I, A>...)>(function)(library_.handle(),
                                                                       passed<I>(args)...);
  }
  void report(const std::string& name, int status);

  Context& ctx_;
  Type type_;
  HandledLibrary& library_;
  struct alignas(16) Scalar {
    std::array<unsigned char, 16> bytes = {};
  };
  std::array<Scalar, 2> scalars_;
  std::size_t used_ = 0;
};

}  // namespace redzone::libraries::cublas
