// The CUDA implementation of Device.
//
// The contract is that of device/device.h. After a fault nothing is destroyed, not even by the
// destructor, because destruction can hang for minutes, and the process must exit with _exit
// anyway.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "device/caching_memory.h"
#include "device/cuda/buffer_ops.h"
#include "device/cuda/contention.h"
#include "device/cuda/context.h"
#include "device/cuda/driver_api.h"
#include "device/cuda/gate.h"
#include "device/cuda/graph_set.h"
#include "device/cuda/launcher.h"
#include "device/cuda/marker_words.h"
#include "device/cuda/pool_memory.h"
#include "device/cuda/region_cache.h"
#include "device/cuda/stream_set.h"
#include "device/cuda/variants.h"
#include "device/device.h"

namespace redzone::device::cuda {

class CudaDevice final : public Device {
 public:
  static Status<std::unique_ptr<CudaDevice>> create();
  ~CudaDevice() override;
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  const Info& info() const override { return parts_->info; }
  Memory& memory(Allocator allocator) override;
  OrderedMemory& ordered_memory(Allocator allocator) override;
  Memory& pinned_memory() override { return *parts_->page_locked; }
  void set_black_box(BlackBox* box) override;
  Status<void> begin_trial(const TrialSettings& settings) override;
  // Ignored: CUDA does not report the address of a fault.
  void watch(std::vector<NamedRange> buffers) override;
  void watch_more(std::span<const NamedRange> buffers) override;
  void set_call(std::int32_t call) override;
  void* stream_handle(int stream) override;
  Status<void> fill(int stream, std::span<const BufferJob> jobs) override;
  void attach_thread() override { parts_->context->attach_thread(); }
  Status<void> fill_foreign(void* stream, std::span<const BufferJob> jobs) override;
  Status<void> check(int stream, std::span<const BufferJob> jobs, BufferCheck* results) override;
  Status<void> launch(int stream, const KernelRef& kernel, const LaunchShape& shape,
                      const LaunchArgs& args) override;
  Status<void> wait(int stream, int on) override;
  Status<void> copy(int stream, void* to, const void* from, std::size_t bytes) override;
  Status<void> memset(int stream, void* to, std::uint8_t value, std::size_t bytes) override;
  Status<void> mark(int stream, std::uint32_t number) override;
  std::uint32_t reached(int stream) const override { return parts_->marks->read(stream); }
  Status<void> begin_capture(int stream) override;
  Status<int> end_capture(int stream) override;
  Status<void> launch_graph(int stream, int graph) override;
  Status<void> hold() override;
  Status<void> open() override;
  // Less than the 1,020 launches after which a held stream blocks, because a batch of buffers
  // enqueues up to three operations.
  std::size_t hold_capacity() const override { return 900; }
  Status<void> synchronize() override;
  Status<void> read(void* to, const void* from, std::size_t bytes) override;
  Status<KernelRef> variant(const VariantRequest& request) override;
  Status<int> encode(const tma::Descriptor& descriptor, TensorMap& map) override;
  bool kept_signals() const override;
  Status<void> await(int stream, int signal) override;
  void give_now(int signal) override;
  Status<void> give(int stream, int signal) override;

 private:
  // Determines whether the device is kept busy while the first kernels of the trial run. Not with
  // blocking launches: their kernels run one at a time, so only the first one would run beside
  // other work.
  Status<void> set_contention(const TrialSettings& settings);
  // Starts the contention of this trial if it has not started; call it when the first kernel may
  // run.
  Status<void> contend();
  // The gate of a signal, created at its first use, because most workers never force an order.
  Status<Gate*> signal_at(int signal);
  void open_signals();

  // Everything that owns driver resources, in order of creation.
  struct Parts {
    DriverApi api;
    Info info;
    std::unique_ptr<PrimaryContext> context;
    std::unique_ptr<Gate> gate;
    std::array<std::unique_ptr<Gate>, kOrderSignals> signals;  // null until awaited or given
    std::unique_ptr<StreamSet> streams;
    std::unique_ptr<MarkerWords> marks;
    std::optional<GraphSet> graphs;
    std::optional<RegionCache> guard, plain, page_locked, cached_segments;
    std::optional<CachingMemory> caching;  // over cached_segments
    std::unique_ptr<PoolMemory> pool;
    std::unique_ptr<BufferOps> buffers;
    std::unique_ptr<Contention> contention;  // null until a trial needs it
    std::optional<Launcher> launcher;
    std::optional<Variants> variants;
  };

  explicit CudaDevice(std::unique_ptr<Parts> parts);
  static Status<std::unique_ptr<Parts>> make_parts();
  Status<void> make_room();
  // Converts the result of enqueueing a copy or memset.
  Status<void> enqueued(CUresult result, const char* what);
  // Whether a copy or memset may be enqueued with this address.
  Status<bool> may_access(const void* at);
  std::array<RegionCache*, 4> caches();
  // Returns a result unchanged, and records a fault.
  template <class T>
  Status<T> noted(Status<T> status);

  std::unique_ptr<Parts> parts_;
  BlackBox* box_ = nullptr;
  const char* last_kernel_ = nullptr;  // the kernel whose name is in the black box
  int streams_in_use_ = 1;
  bool idle_ = true;       // nothing was enqueued since the last synchronize()
  bool contends_ = false;  // contend() has to start the contention
  bool lost_ = false;
};

}  // namespace redzone::device::cuda
