// The host device's instances of a kernel template: all combinations of element type, RDIM, block_v
// and num_warps, in one table. A CUDA plugin compiles none of them: NVRTC compiles them on demand.
#pragma once

#include <redzone/target.h>

#include <array>
#include <bit>
#include <cstddef>
#include <utility>

#include "problem.h"

namespace redzone::chunk {

inline constexpr int kRdims = 9;  // 1, 2, 4 .. 256
inline constexpr std::array<int, 3> kBlockV = {16, 32, 64};
inline constexpr std::array<int, 3> kWarps = {2, 4, 8};

#ifdef __CUDACC__

template <class Kernel>
KernelRef host_instance(const VariantKey&) {
  return {};
}

#else

namespace detail {

template <class Kernel, std::size_t INDEX>
KernelRef instance() {
  constexpr std::size_t warps = kWarps[INDEX % kWarps.size()];
  constexpr std::size_t block_v = kBlockV[INDEX / kWarps.size() % kBlockV.size()];
  constexpr std::size_t rest = INDEX / (kWarps.size() * kBlockV.size());
  constexpr int rdim = 1 << (rest % kRdims);
  using E = std::conditional_t<rest / kRdims == 0, float, bf16>;
  return kernel_ref(Kernel::name, Kernel::template function<E, rdim, block_v, warps>());
}

template <class Kernel, std::size_t... INDEX>
KernelRef lookup(std::size_t index, std::index_sequence<INDEX...>) {
  static constexpr KernelRef (*table[])() = {&instance<Kernel, INDEX>...};
  return table[index]();
}

}  // namespace detail

// `Kernel` names the kernel and gives its instances:
//   static constexpr const char* name;
//   template <class E, int RDIM, int BV, int WARPS> static auto function();
template <class Kernel>
KernelRef host_instance(const VariantKey& key) {
  const auto position = [](const auto& values, int value) {
    std::size_t i = 0;
    while (values[i] != value) ++i;
    return i;
  };
  std::size_t index = key.bf16 ? kRdims : 0;
  index += static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(key.rdim)));
  index = index * kBlockV.size() + position(kBlockV, key.block_v);
  index = index * kWarps.size() + position(kWarps, key.warps);
  return detail::lookup<Kernel>(
      index, std::make_index_sequence<2 * kRdims * kBlockV.size() * kWarps.size()>{});
}

#endif

}  // namespace redzone::chunk
