// FlashInfer's ragged prefill of FlashAttention-3, behind plain values: only launch.cu includes its
// headers, which take more than a minute and 4 GB to compile.
#pragma once

#include <cstddef>
#include <cstdint>

namespace redzone::flashinfer_target {

inline constexpr int kWidth = 128;  // of a head; the one that is instantiated

// [tokens, heads, kWidth] of bf16, the last dim dense. Strides in elements.
struct Rows {
  void* base = nullptr;
  std::int64_t token = 0, head = 0;
};

struct Prefill {
  Rows q, k, v, o;
  const int* q_offsets = nullptr;  // batch + 1, on the host
  const int* k_offsets = nullptr;
  int batch = 0, q_heads = 0, k_heads = 0;
  bool causal = false;
  // For its tables, workspace_bytes() each: page-locked memory of the host, and of the device.
  void* host_workspace = nullptr;
  void* device_workspace = nullptr;
  void* stream = nullptr;
};

// Why this build has no FlashInfer, or null.
const char* missing();

// What its tables take at most: 8 numbers for each tile of queries of a head, and some.
std::size_t workspace_bytes(std::int64_t queries, int batch, int q_heads);

// Plans and enqueues. Null, or what the CUDA runtime says of it. May throw std::exception.
const char* enqueue(const Prefill& prefill);

}  // namespace redzone::flashinfer_target
