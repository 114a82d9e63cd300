#include "launch.h"

#include <flashinfer/attention/hopper/prefill_sm90.cuh>

#include <flashinfer/attention/hopper/default_params.cuh>
#include <flashinfer/attention/hopper/variants.cuh>
#include <flashinfer/attention/scheduler.cuh>

#include <cmath>
#include <vector>

namespace redzone::flashinfer_target {
namespace {

using Element = cutlass::bfloat16_t;
using Params = ::flashinfer::BatchPrefillRaggedParams<Element, Element, Element, std::int32_t>;

template <class T>
T* at(void* base, std::int64_t offset_bytes) {
  return reinterpret_cast<T*>(static_cast<char*>(base) + offset_bytes);
}

Params params_of(const Prefill& p, const ::flashinfer::PrefillPlanSM90Info& plan) {
  Params params = {};
  params.q_ptr = static_cast<Element*>(p.q.base);
  params.k_ptr = static_cast<Element*>(p.k.base);
  params.v_ptr = static_cast<Element*>(p.v.base);
  params.o_ptr = static_cast<Element*>(p.o.base);
  void* const tables = p.device_workspace;
  params.qo_tile_indices = at<std::int32_t>(tables, plan.qo_tile_indices_offset);
  params.qo_indptr = at<std::int32_t>(tables, plan.qo_indptr_offset);
  params.kv_indptr = at<std::int32_t>(tables, plan.kv_indptr_offset);
  params.qo_lens = at<std::int32_t>(tables, plan.qo_len_offset);
  params.kv_lens = at<std::int32_t>(tables, plan.kv_len_offset);
  params.head_indices = at<std::int32_t>(tables, plan.head_indices_offset);
  params.work_indptr = at<std::int32_t>(tables, plan.work_indptr_offset);
  params.batch_indices = at<std::int32_t>(tables, plan.batch_indices_offset);
  params.additional_params.sm_scale = 1.0f / std::sqrt(static_cast<float>(kWidth));
  params.q_stride_n = p.q.token;
  params.k_stride_n = p.k.token;
  params.v_stride_n = p.v.token;
  params.o_stride_n = p.o.token;
  params.q_stride_h = p.q.head;
  params.k_stride_h = p.k.head;
  params.v_stride_h = p.v.head;
  params.o_stride_h = p.o.head;
  params.nnz_qo = p.q_offsets[p.batch];
  params.nnz_kv = p.k_offsets[p.batch];
  params.num_qo_heads = p.q_heads;
  params.num_kv_heads = p.k_heads;
  params.group_size = p.q_heads / p.k_heads;
  params.window_left = -1;
  params.causal = p.causal;
  return params;
}

template <::flashinfer::MaskMode kMask>
cudaError_t run(Params& params, cudaStream_t stream) {
  return ::flashinfer::BatchPrefillWithRaggedKVCacheDispatched<
      kWidth, kWidth, kMask, /*LEFT_SLIDING_WINDOW=*/false, /*SAME_SCHEDULE_FOR_ALL_HEADS=*/false,
      ::flashinfer::StandardAttention>(params, /*enable_pdl=*/false, stream);
}

}  // namespace

const char* missing() {
  return nullptr;
}

std::size_t workspace_bytes(std::int64_t queries, int batch, int q_heads) {
  constexpr std::int64_t kTile = 128, kTables = 8, kMostMultiprocessors = 1024;
  const std::int64_t works = ((queries + kTile - 1) / kTile + batch) * q_heads;
  return static_cast<std::size_t>(kTables * (works * 4 + 16) + kMostMultiprocessors * 4);
}

const char* enqueue(const Prefill& p) {
  const auto stream = static_cast<cudaStream_t>(p.stream);
  std::vector<std::int32_t> q_offsets(p.q_offsets, p.q_offsets + p.batch + 1);
  std::vector<std::int32_t> k_offsets(p.k_offsets, p.k_offsets + p.batch + 1), lengths;
  for (int b = 0; b < p.batch; ++b) lengths.push_back(k_offsets[b + 1] - k_offsets[b]);
  const std::size_t bytes = workspace_bytes(q_offsets.back(), p.batch, p.q_heads);
  ::flashinfer::PrefillPlanSM90Info plan;
  cudaError_t status = ::flashinfer::PrefillSM90Plan(
      nullptr, 0, p.device_workspace, p.host_workspace, bytes, plan, q_offsets.data(),
      k_offsets.data(), lengths.data(), static_cast<std::uint32_t>(q_offsets.back()),
      static_cast<std::uint32_t>(p.batch), static_cast<std::uint32_t>(p.q_heads),
      static_cast<std::uint32_t>(p.k_heads), kWidth, kWidth, /*page_size=*/1, p.causal,
      /*enable_cuda_graph=*/false, sizeof(Element), stream);
  // Beyond 4096 tiles of a head, FlashInfer plans for another kernel, which is not instantiated.
  if (plan.same_schedule_for_all_heads) return "more tiles of a head than this plugin is built for";
  if (status == cudaSuccess) {
    Params params = params_of(p, plan);
    status = p.causal ? run<::flashinfer::MaskMode::kCausal>(params, stream)
                      : run<::flashinfer::MaskMode::kNone>(params, stream);
  }
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

}  // namespace redzone::flashinfer_target
