// Enqueues fills and checks of buffers.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "device/cuda/batch_plan.h"
#include "device/cuda/driver_api.h"
#include "device/cuda/staging.h"
#include "device/device.h"

namespace redzone::device::cuda {

class BufferOps {
 public:
  // Loads the kernels. `processors`: multiprocessors of the device.
  static Status<std::unique_ptr<BufferOps>> create(const DriverApi& api, int processors);
  ~BufferOps();  // requires that nothing is in flight
  BufferOps(const BufferOps&) = delete;
  BufferOps& operator=(const BufferOps&) = delete;

  // One launch; a batch that does not fit into an InlineBatch also enqueues a copy.
  Status<void> fill(CUstream stream, std::span<const BufferJob> jobs);
  // A copy, a launch and a copy back. `results` are written by finish().
  Status<void> check(CUstream stream, std::span<const BufferJob> jobs, BufferCheck* results);

  // Stores the results of all checks. Call only after waiting for the streams.
  void finish();
  // finish() will not store the results of the checks so far.
  void discard_results() { pending_.clear(); }

 private:
  BufferOps(const DriverApi& api, int processors)
      : api_(api), processors_(processors), staging_(api) {}

  // A batch as bytes of a slice: jobs, pieces, results.
  struct Table {
    Staging::Slice slice;
    std::size_t bytes = 0;
    std::size_t results_offset = 0;
    BatchView view = {};  // of device memory
  };
  Status<Table> make_table(bool with_results);
  Status<void> upload(CUstream stream, const Table& table);
  Status<void> fill_inline(CUstream stream);
  Status<void> launch(CUfunction kernel, CUstream stream, void* parameter);

  struct PendingCheck {
    const std::byte* from;  // pinned
    BufferCheck* to;
    std::size_t count;
  };

  const DriverApi& api_;
  int processors_;
  CUmodule module_ = nullptr;
  CUfunction fill_ = nullptr, fill_inline_ = nullptr, check_ = nullptr;
  Staging staging_;
  BatchPlan plan_;
  std::vector<PendingCheck> pending_;
};

}  // namespace redzone::device::cuda
