#include "device/cuda/buffer_ops.h"

#include <algorithm>
#include <cstring>

#include "device/cuda/cuda_error.h"

extern "C" const unsigned char redzone_buffer_kernels[];  // kernels.S

namespace redzone::device::cuda {
namespace {

// Enough blocks to fill every multiprocessor; with more each would only get fewer chunks.
constexpr std::uint64_t kMostBlocksPerProcessor = 8;

}  // namespace

Status<std::unique_ptr<BufferOps>> BufferOps::create(const DriverApi& api, int processors) {
  std::unique_ptr<BufferOps> ops(new BufferOps(api, processors));
  if (auto r = api.module_load(&ops->module_, redzone_buffer_kernels); r != CUDA_SUCCESS)
    return tl::unexpected(failure_of(api, r, "loading the fill and check kernels"));
  const std::pair<CUfunction*, const char*> functions[] = {
      {&ops->fill_, "redzone_fill"},
      {&ops->fill_inline_, "redzone_fill_inline"},
      {&ops->check_, "redzone_check"}};
  for (auto [function, name] : functions) {
    if (auto r = api.module_function(function, ops->module_, name); r != CUDA_SUCCESS)
      return tl::unexpected(failure_of(api, r, name));
    // Loads the kernel now, because a stream may be held at its first launch.
    if (api.function_load != nullptr)
      if (auto r = api.function_load(*function); r != CUDA_SUCCESS)
        return tl::unexpected(failure_of(api, r, name));
  }
  // Allocates the first block of staging memory now rather than in the first trial.
  RZ_TRY(ops->staging_.take(1));
  ops->staging_.reset();
  return ops;
}

BufferOps::~BufferOps() {
  if (module_ != nullptr) api_.module_unload(module_);
}

Status<void> BufferOps::fill(CUstream stream, std::span<const BufferJob> jobs) {
  plan_batch(jobs, plan_);
  if (plan_.chunks == 0) return {};
  if (jobs.size() <= kInlineJobs && plan_.piece_count() <= kInlinePieces)
    return fill_inline(stream);
  RZ_TRY_ASSIGN(auto table, make_table(false));
  RZ_TRY(upload(stream, table));
  return launch(fill_, stream, &table.view);
}

Status<void> BufferOps::fill_inline(CUstream stream) {
  InlineBatch batch;  // the driver copies it; entries beyond the counts are never read
  batch.chunks = plan_.chunks;
  batch.piece_count = plan_.piece_count();
  batch.reserved = 0;
  std::copy(plan_.pieces.begin(), plan_.pieces.end(), batch.pieces);
  std::copy(plan_.jobs.begin(), plan_.jobs.end(), batch.jobs);
  return launch(fill_inline_, stream, &batch);
}

Status<void> BufferOps::check(CUstream stream, std::span<const BufferJob> jobs,
                              BufferCheck* results) {
  plan_batch(jobs, plan_);
  if (plan_.chunks == 0) {
    std::fill_n(results, jobs.size(), clean_check());
    return {};
  }
  RZ_TRY_ASSIGN(auto table, make_table(true));
  RZ_TRY(upload(stream, table));
  RZ_TRY(launch(check_, stream, &table.view));
  // Overwrites the initial values in pinned memory, whose upload has completed when this copy runs.
  std::byte* host = table.slice.host + table.results_offset;
  const auto r = api_.copy_to_host_async(host, table.slice.device + table.results_offset,
                                         jobs.size() * sizeof(BufferCheck), stream);
  if (r != CUDA_SUCCESS) return tl::unexpected(failure_of(api_, r, "cuMemcpyDtoHAsync"));
  pending_.push_back({host, results, jobs.size()});
  return {};
}

void BufferOps::finish() {
  for (const PendingCheck& check : pending_)
    std::memcpy(check.to, check.from, check.count * sizeof(BufferCheck));
  pending_.clear();
  staging_.reset();
}

Status<BufferOps::Table> BufferOps::make_table(bool with_results) {
  const std::size_t jobs_bytes = plan_.jobs.size() * sizeof(SlotJob);
  const std::size_t pieces_bytes = plan_.pieces.size() * sizeof(Piece);
  const std::size_t results_bytes = with_results ? plan_.jobs.size() * sizeof(BufferCheck) : 0;
  Table table;
  table.results_offset = jobs_bytes + pieces_bytes;
  table.bytes = table.results_offset + results_bytes;
  RZ_TRY_ASSIGN(auto slice, staging_.take(table.bytes));
  table.slice = slice;

  std::memcpy(slice.host, plan_.jobs.data(), jobs_bytes);
  std::memcpy(slice.host + jobs_bytes, plan_.pieces.data(), pieces_bytes);
  const BufferCheck clean = clean_check();
  for (std::size_t at = table.results_offset; at < table.bytes; at += sizeof clean)
    std::memcpy(slice.host + at, &clean, sizeof clean);

  const auto on_device = [&](std::size_t offset) {
    return static_cast<std::uintptr_t>(slice.device + offset);
  };
  table.view.jobs = reinterpret_cast<const SlotJob*>(on_device(0));
  table.view.pieces = reinterpret_cast<const Piece*>(on_device(jobs_bytes));
  table.view.piece_count = plan_.piece_count();
  table.view.chunks = plan_.chunks;
  table.view.results = reinterpret_cast<BufferCheck*>(on_device(table.results_offset));
  return table;
}

Status<void> BufferOps::upload(CUstream stream, const Table& table) {
  const auto r =
      api_.copy_to_device_async(table.slice.device, table.slice.host, table.bytes, stream);
  return status_of(api_, r, "cuMemcpyHtoDAsync");
}

Status<void> BufferOps::launch(CUfunction kernel, CUstream stream, void* parameter) {
  const auto blocks = static_cast<unsigned>(std::min<std::uint64_t>(
      plan_.chunks, static_cast<std::uint64_t>(processors_) * kMostBlocksPerProcessor));
  void* parameters[] = {parameter};
  const auto r =
      api_.launch_kernel(kernel, blocks, 1, 1, kBlockThreads, 1, 1, 0, stream, parameters, nullptr);
  return status_of(api_, r, "launch of the fill and check kernels");
}

}  // namespace redzone::device::cuda
