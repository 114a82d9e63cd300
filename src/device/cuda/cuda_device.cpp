#include "device/cuda/cuda_device.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/contention.h"
#include "core/error.h"
#include "core/leak.h"
#include "device/cuda/cuda_error.h"
#include "device/cuda/device_facts.h"
#include "device/cuda/encode.h"
#include "device/launch_check.h"

namespace redzone::device {
namespace cuda {
namespace {

// Several workers share a GPU: regions cached by one must not starve the others.
constexpr std::size_t kIdleShare = 16;

CUdeviceptr address_of(const void* at) {
  return static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(at));
}

}  // namespace

template <class T>
Status<T> CudaDevice::noted(Status<T> status) {
  if (!status && status.error().kind == Failure::Kind::fault) lost_ = true;
  return status;
}

Status<std::unique_ptr<CudaDevice::Parts>> CudaDevice::make_parts() {
  auto parts = std::make_unique<Parts>();
  auto loaded = load_driver_api();
  if (!loaded) return tl::unexpected(Failure{Failure::Kind::harness, "no-driver", loaded.error()});
  const DriverApi& api = parts->api = *loaded;
  if (auto r = api.init(0); r != CUDA_SUCCESS) return tl::unexpected(failure_of(api, r, "cuInit"));
  CUdevice device = 0;
  if (auto r = api.device_get(&device, 0); r != CUDA_SUCCESS)
    return tl::unexpected(failure_of(api, r, "cuDeviceGet"));

  RZ_TRY_ASSIGN(auto info, describe(api, device));
  parts->info = std::move(info);
  RZ_TRY_ASSIGN(auto context, PrimaryContext::retain(api, device));
  parts->context = std::move(context);
  RZ_TRY_ASSIGN(auto gate, Gate::create(api, HoldTime::learned));
  parts->gate = std::move(gate);
  RZ_TRY_ASSIGN(auto streams, StreamSet::create(api));
  parts->streams = std::move(streams);
  RZ_TRY_ASSIGN(auto marks, MarkerWords::create(api));
  parts->marks = std::move(marks);
  parts->graphs.emplace(api, *parts->gate);

  RZ_TRY_ASSIGN(auto pool, PoolMemory::create(api, device, *parts->streams));
  parts->pool = std::move(pool);

  RZ_TRY_ASSIGN(auto buffers, BufferOps::create(api, parts->info.multiprocessors));
  parts->buffers = std::move(buffers);
  parts->launcher.emplace(api, *parts->gate, parts->info.limits);
  parts->variants.emplace(api, *parts->gate, parts->info.compute_capability,
                          CubinCache(CubinCache::default_folder()));
  return parts;
}

CudaDevice::CudaDevice(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {
  const MakeRoom make_room = [this] { return this->make_room(); };
  const DriverApi& api = parts_->api;
  const RegionCache::Limits limits = {parts_->info.memory_bytes,
                                      parts_->info.memory_bytes / kIdleShare};
  // A buffer is placed at one end of its guarded region, so that the guard page at that end is
  // equally near in a larger region. Regions of the other caches have the exact size, because
  // memcheck uses the end of a plain block, and the size of a segment determines which of its
  // blocks is reused.
  RegionCache::Limits of_guard = limits;
  of_guard.most_times = 2;
  parts_->guard.emplace(
      [&](std::uint64_t& calls) {
        return make_guard_source(api, 0, parts_->info.granularity_bytes, calls);
      },
      make_room, of_guard);
  const auto plain = [&](std::uint64_t& calls) { return make_plain_source(api, calls); };
  parts_->plain.emplace(plain, make_room, limits);
  parts_->cached_segments.emplace(plain, make_room, limits);
  parts_->caching.emplace(*parts_->cached_segments);
  parts_->page_locked.emplace(
      [&](std::uint64_t& calls) { return make_page_locked_source(api, calls); }, make_room, limits);
}

std::array<RegionCache*, 4> CudaDevice::caches() {
  return {&*parts_->guard, &*parts_->plain, &*parts_->page_locked, &*parts_->cached_segments};
}

Status<std::unique_ptr<CudaDevice>> CudaDevice::create() {
  auto parts = make_parts();
  if (!parts) {
    // No target has run yet, so a fault is not the target's.
    if (parts.error().kind == Failure::Kind::fault) parts.error().kind = Failure::Kind::harness;
    return tl::unexpected(std::move(parts.error()));
  }
  return std::unique_ptr<CudaDevice>(new CudaDevice(std::move(*parts)));
}

CudaDevice::~CudaDevice() {
  if (!lost_) parts_->graphs->abandon();
  parts_->gate->open();
  open_signals();
  parts_->buffers->discard_results();
  if (!lost_) lost_ = !synchronize();
  if (lost_)
    leak_on_purpose(std::move(parts_));  // see cuda_device.h
  else
    parts_->caching->reset();
}

Memory& CudaDevice::memory(Allocator allocator) {
  return allocator == Allocator::guard ? *parts_->guard : *parts_->plain;
}

OrderedMemory& CudaDevice::ordered_memory(Allocator allocator) {
  RZ_CHECK(allocator == Allocator::pool || allocator == Allocator::caching);
  if (allocator == Allocator::pool) return *parts_->pool;
  return *parts_->caching;
}

void CudaDevice::set_black_box(BlackBox* box) {
  box_ = box;
  last_kernel_ = nullptr;
}

Status<void> CudaDevice::begin_trial(const TrialSettings& settings) {
  parts_->graphs->abandon();
  // The previous trial was aborted: its tables may still be in use, and its results are discarded.
  if (!idle_) {
    parts_->buffers->discard_results();
    RZ_TRY(synchronize());
  }
  parts_->gate->open();
  for (auto& signal : parts_->signals)
    if (signal != nullptr) signal->reset();
  parts_->graphs->clear();
  parts_->marks->clear();
  parts_->caching->reset();
  for (RegionCache* cache : caches()) cache->shrink();
  RZ_TRY(noted(parts_->pool->begin(settings.pool)));
  streams_in_use_ = settings.streams;
  last_kernel_ = nullptr;
  return noted(set_contention(settings));
}

Status<void> CudaDevice::set_contention(const TrialSettings& settings) {
  contends_ = settings.launch != Launch::blocking && has_contention(settings.schedule_seed);
  if (!contends_ || parts_->contention != nullptr) return {};
  RZ_TRY_ASSIGN(auto made, Contention::create(parts_->api, parts_->info.multiprocessors));
  parts_->contention = std::move(made);
  return {};
}

Status<void> CudaDevice::contend() {
  if (!std::exchange(contends_, false)) return {};
  idle_ = false;
  return noted(parts_->contention->begin());
}

void CudaDevice::watch(std::vector<NamedRange>) {}
void CudaDevice::watch_more(std::span<const NamedRange>) {}

void CudaDevice::set_call(std::int32_t call) {
  if (box_ != nullptr && call >= 0) box_->call_begun = call;
}

void* CudaDevice::stream_handle(int stream) {
  return (*parts_->streams)[stream];
}

Status<void> CudaDevice::fill(int stream, std::span<const BufferJob> jobs) {
  idle_ = false;
  return noted(parts_->buffers->fill((*parts_->streams)[stream], jobs));
}

Status<void> CudaDevice::fill_foreign(void* stream, std::span<const BufferJob> jobs) {
  idle_ = false;
  return noted(parts_->buffers->fill(static_cast<CUstream>(stream), jobs));
}

Status<void> CudaDevice::check(int stream, std::span<const BufferJob> jobs, BufferCheck* results) {
  idle_ = false;
  return noted(parts_->buffers->check((*parts_->streams)[stream], jobs, results));
}

Status<void> CudaDevice::launch(int stream, const KernelRef& kernel, const LaunchShape& shape,
                                const LaunchArgs& args) {
  idle_ = false;
  if (box_ != nullptr && kernel.name != nullptr && kernel.name != last_kernel_) {
    copy_name(box_->kernel, kernel.name);
    last_kernel_ = kernel.name;
  }
  if (!parts_->gate->closed() && !parts_->graphs->capturing()) RZ_TRY(contend());
  return noted(parts_->launcher->launch((*parts_->streams)[stream], kernel, shape, args));
}

Status<void> CudaDevice::wait(int stream, int on) {
  return noted(parts_->streams->wait(stream, on));
}

Status<void> CudaDevice::mark(int stream, std::uint32_t number) {
  idle_ = false;
  return noted(parts_->marks->write(stream, (*parts_->streams)[stream], number));
}

Status<void> CudaDevice::begin_capture(int stream) {
  return noted(parts_->graphs->begin((*parts_->streams)[stream]));
}

Status<int> CudaDevice::end_capture(int) {
  return noted(parts_->graphs->end());
}

Status<void> CudaDevice::launch_graph(int stream, int graph) {
  idle_ = false;
  // Which of the graph's kernels runs is unknown.
  if (box_ != nullptr) copy_name(box_->kernel, "");
  last_kernel_ = nullptr;
  if (!parts_->gate->closed()) RZ_TRY(contend());
  return noted(parts_->graphs->launch((*parts_->streams)[stream], graph));
}

Status<bool> CudaDevice::may_access(const void* at) {
  CUmemorytype type = {};
  const CUresult r =
      parts_->api.pointer_attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address_of(at));
  if (r == CUDA_SUCCESS) return true;
  if (r == CUDA_ERROR_INVALID_VALUE) return false;  // memory unknown to the driver
  return tl::unexpected(failure_of(parts_->api, r, "cuPointerGetAttribute"));
}

Status<void> CudaDevice::copy(int stream, void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return {};
  const std::pair<const void*, const char*> ends[] = {{to, "destination"}, {from, "source"}};
  for (const auto& [at, end] : ends) {
    RZ_TRY_ASSIGN(auto possible, noted(may_access(at)));
    if (!possible) return tl::unexpected(pageable("copy", end));
  }
  idle_ = false;
  const CUresult r =
      parts_->api.copy_async(address_of(to), address_of(from), bytes, (*parts_->streams)[stream]);
  return enqueued(r, "cuMemcpyAsync");
}

Status<void> CudaDevice::memset(int stream, void* to, std::uint8_t value, std::size_t bytes) {
  if (bytes == 0) return {};
  RZ_TRY_ASSIGN(auto possible, noted(may_access(to)));
  if (!possible) return tl::unexpected(pageable("memset", "destination"));
  idle_ = false;
  const CUresult r =
      parts_->api.set_bytes_async(address_of(to), value, bytes, (*parts_->streams)[stream]);
  return enqueued(r, "cuMemsetD8Async");
}

// An error is a refusal of the work, because the target provided the arguments.
Status<void> CudaDevice::enqueued(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return {};
  return noted(Status<void>(tl::unexpected(refusal_of(parts_->api, result, what))));
}

Status<Gate*> CudaDevice::signal_at(int signal) {
  auto& gate = parts_->signals[static_cast<std::size_t>(signal)];
  if (gate == nullptr) {
    RZ_TRY_ASSIGN(auto made, noted(Gate::create(parts_->api, HoldTime::fixed)));
    gate = std::move(made);
  }
  return gate.get();
}

void CudaDevice::open_signals() {
  for (auto& signal : parts_->signals)
    if (signal != nullptr) signal->open();
}

// Closes the signal's gate for the stream that awaits the signal.
Status<void> CudaDevice::await(int stream, int signal) {
  RZ_TRY_ASSIGN(Gate* const gate, signal_at(signal));
  idle_ = false;
  const CUstream waits = (*parts_->streams)[stream];
  return noted(gate->close(std::span(&waits, 1)));
}

Status<void> CudaDevice::give(int stream, int signal) {
  RZ_TRY_ASSIGN(Gate* const gate, signal_at(signal));
  idle_ = false;
  return noted(gate->open_behind((*parts_->streams)[stream]));
}

void CudaDevice::give_now(int signal) {
  if (auto& gate = parts_->signals[static_cast<std::size_t>(signal)]; gate != nullptr) gate->open();
}

bool CudaDevice::kept_signals() const {
  return std::none_of(parts_->signals.begin(), parts_->signals.end(),
                      [](const auto& signal) { return signal != nullptr && signal->expired(); });
}

Status<void> CudaDevice::hold() {
  return noted(parts_->gate->close(parts_->streams->first(streams_in_use_)));
}

Status<void> CudaDevice::open() {
  Status<void> begun;
  if (parts_->gate->closed()) begun = contend();
  parts_->gate->open();
  return begun;
}

Status<void> CudaDevice::synchronize() {
  RZ_TRY(open());
  // Waits for the whole context, including work of a target on its own streams or on the default
  // stream.
  const CUresult r = parts_->api.ctx_synchronize();
  if (r != CUDA_SUCCESS) {
    lost_ = true;
    return tl::unexpected(asynchronous_failure_of(parts_->api, r, "waiting for the device"));
  }
  open_signals();
  parts_->buffers->finish();
  idle_ = true;
  return {};
}

Status<void> CudaDevice::read(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return {};
  return noted(status_of(parts_->api, parts_->api.copy_to_host(to, address_of(from), bytes),
                         "cuMemcpyDtoH"));
}

Status<KernelRef> CudaDevice::variant(const VariantRequest& request) {
  auto found = noted(parts_->variants->find(request, box_));
  if (box_ != nullptr) ++box_->progress;  // loading takes a while, too
  return found;
}

Status<int> CudaDevice::encode(const tma::Descriptor& descriptor, TensorMap& map) {
  const DriverApi& api = parts_->api;
  if (api.tensor_map_encode_tiled == nullptr || api.tensor_map_encode_im2col == nullptr ||
      parts_->info.compute_capability < 90)
    return tl::unexpected(Failure{Failure::Kind::unsupported, "no-tma",
                                  "TMA descriptors need compute capability 9.0 and driver 12.0"});
  if (descriptor.rank > TensorMapEncoder::kMostRank) return CUDA_ERROR_INVALID_VALUE;
  CUtensorMap encoded;
  const CUresult r = cuda::encode(api, descriptor, encoded);
  if (r != CUDA_SUCCESS && r != CUDA_ERROR_INVALID_VALUE)
    return noted(Status<int>(tl::unexpected(failure_of(api, r, "cuTensorMapEncodeTiled"))));
  static_assert(sizeof encoded == sizeof map.bytes);
  if (r == CUDA_SUCCESS) std::memcpy(map.bytes, &encoded, sizeof encoded);
  return r;
}

Status<void> CudaDevice::make_room() {
  if (parts_->graphs->capturing())
    return tl::unexpected(Failure{Failure::Kind::out_of_memory, "CUDA_ERROR_OUT_OF_MEMORY",
                                  "no memory, and none can be given back during a capture"});
  RZ_TRY(synchronize());
  for (RegionCache* cache : caches()) cache->trim();
  return parts_->pool->trim();
}

}  // namespace cuda

Status<std::unique_ptr<Device>> open_cuda_device() {
  return cuda::CudaDevice::create().map(
      [](std::unique_ptr<cuda::CudaDevice> device) -> std::unique_ptr<Device> { return device; });
}

}  // namespace redzone::device
