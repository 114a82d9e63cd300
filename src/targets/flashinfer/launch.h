// Plain interface to FlashInfer's ragged prefill of FlashAttention-3: only launch.cu includes the
// FlashInfer headers, which take more than a minute and 4 GB to compile.
#pragma once

#include <cstddef>
#include <cstdint>

namespace redzone::flashinfer_target {

inline constexpr int kWidth = 128;  // columns of a head; the only width that is instantiated

// [tokens, heads, kWidth] of bf16, the last dim dense. Strides in elements.
struct Rows {
  void* base = nullptr;
  std::int64_t token = 0, head = 0;
};

struct Prefill {
  Rows q, k, v, o;
  const int* q_offsets = nullptr;  // batch + 1 offsets, in host memory
  const int* k_offsets = nullptr;
  int batch = 0, q_heads = 0, k_heads = 0;
  bool causal = false;
  // Workspaces for FlashInfer's tables, workspace_bytes() each: pinned memory, and device memory.
  void* host_workspace = nullptr;
  void* device_workspace = nullptr;
  void* stream = nullptr;
};

// Why this build has no FlashInfer, or null.
const char* missing();

// Upper bound of the size of FlashInfer's tables: 8 numbers for each tile of queries of a head, and
// a constant.
std::size_t workspace_bytes(std::int64_t queries, int batch, int q_heads);

// Plans and enqueues. Returns null, or the error text of FlashInfer or the CUDA runtime. May throw
// std::exception.
const char* enqueue(const Prefill& prefill);

}  // namespace redzone::flashinfer_target
