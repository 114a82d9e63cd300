// Finds the compiled variant of a kernel for a call, as a lazily compiling launcher does.
//
// A variant is identified by its template arguments and by its class of N = T / C. The classes of N
// are those of Triton: 1, divisible by 16, other; with specialize_n the class is the exact value.
// The class is part of the cache's key, because a variant compiled for one class is wrong for
// another.
//
// On CUDA the class becomes a macro for NVRTC. On the host device all classes share the instance
// that takes N at run time, because N has too many values to compile an instance for each ahead of
// time.
#pragma once

#include <redzone/target.h>

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "problem.h"

namespace redzone::chunk {

// A kernel template of the family.
struct Family {
  const char* name;                               // of the kernel, as observed
  const char* function;                           // of the template, in namespace redzone_chunk
  KernelRef (*host_instance)(const VariantKey&);  // gives {} in a CUDA plugin
};

struct ChunkCountClass {
  enum class Kind : std::uint8_t { exact, multiple_of_16, any };
  Kind kind = Kind::any;
  std::int64_t value = 0;  // of `exact`

  static ChunkCountClass of(std::int64_t n, bool specialize);
  std::vector<std::string> options() const;
  auto operator<=>(const ChunkCountClass&) const = default;
};

// "redzone_chunk::fwd_h<float, 128, 32, 4>".
std::string expression(const Family& family, const VariantKey& key);

// The text of chunk_kernels.cuh.
std::string_view kernel_source();

// State of one target; lives as long as the trial.
class Launcher {
 public:
  // The variant of `family` for this call. If none is returned, the call has ended: see
  // Context::ended().
  KernelRef find(Context& ctx, const Family& family, const Problem& problem);

  // Enqueues the kernel that sums the gates of every chunk. `weights` may be null; see
  // redzone_chunk::gates.
  template <bool PREFIX>
  void sum_gates(Context& ctx, const Problem& problem, float* weights, float* totals);

 private:
  struct Key {
    std::string function;
    VariantKey variant;
    ChunkCountClass count;
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, KernelRef> variants_;
};

// A tensor argument in the form that the kernels take. The caller ensures that E matches the dtype.
template <class E>
redzone_chunk::Strided<E> strided(const TensorArg& tensor) {
  redzone_chunk::Strided<E> s = {};
  s.data = static_cast<E*>(tensor.base);
  for (std::size_t k = 0; k < tensor.strides.size(); ++k) s.stride[k] = tensor.strides[k];
  return s;
}

// Calls f with a value of the element type of the call: f(float{}) or f(bf16{}).
template <class F>
void with_element(bool is_bf16, F f) {
  if (is_bf16)
    f(bf16{});
  else
    f(float{});
}

}  // namespace redzone::chunk
