#include "device/host/host_device.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "core/error.h"
#include "device/host/buffers.h"
#include "device/host/encode.h"
#include "device/launch_check.h"

namespace redzone::device {

namespace {

tl::unexpected<Failure> fail(Failure failure) {
  return tl::unexpected<Failure>(std::move(failure));
}

Info describe() {
  Info info;
  info.kind = DeviceKind::host;
  info.name = "host";
  info.memory_bytes = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                      static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / 2;
  return info;
}

host::Index3 index_of(const Extent& e) {
  return {static_cast<unsigned>(e.x), static_cast<unsigned>(e.y), static_cast<unsigned>(e.z)};
}

}  // namespace

HostDevice::HostDevice() : info_(describe()), engine_(guard_, fault_), handler_(fault_) {
  fault_.arena_begin = guard_.begin();
  fault_.arena_end = guard_.end();
  fault_.stacks_begin = engine_.fibers().begin();
  fault_.stacks_end = engine_.fibers().end();
}

Memory& HostDevice::memory(Allocator allocator) {
  if (allocator == Allocator::guard) return guard_;
  return plain_;
}

OrderedMemory& HostDevice::ordered_memory(Allocator allocator) {
  RZ_CHECK(allocator == Allocator::pool || allocator == Allocator::caching);
  if (allocator == Allocator::pool) return pool_;
  return caching_;
}

Status<void> HostDevice::begin_trial(const TrialSettings& settings) {
  RZ_CHECK(settings.streams >= 1 && settings.streams <= StreamQueue::kStreams);
  capture_.abandon();
  graphs_.clear();
  if (lost_.has_value()) engine_.reset();
  lost_.reset();
  events_.clear();
  caching_.reset();
  pool_.begin(settings.pool);
  guard_.settle();
  for (RegionCache* memory : {&plain_, &cached_segments_, &pool_segments_}) memory->settle();
  fault_.watched.clear();
  fault_.kernel = "";
  held_ = false;
  kept_signals_ = true;
  call_ = -1;
  rng_ = Rng(settings.schedule_seed);
  engine_.set_poison(settings.poison);
  stream_rng_ = rng_.natural() ? Rng() : Rng(mix(settings.schedule_seed) | 1);
  queue_.clear(stream_rng_);
  pace_ = Pace::at_synchronize;
  if (!rng_.natural()) {
    const std::uint64_t r = rng_.below(4);
    pace_ = r == 0 ? Pace::at_synchronize : r == 1 ? Pace::at_once : Pace::mixed;
  }
  return {};
}

bool HostDevice::check_kernels(SanitizerTool tool) {
  if (!is_check(tool)) return false;
  std::vector<MemoryRange> memory{{guard_.begin(), guard_.end()}};
  for (const PlainMemory* plain : {&plain_, &cached_segments_, &pool_segments_})
    memory.push_back({plain->begin(), plain->end()});
  checks_ = std::make_unique<KernelChecks>(tool, std::move(memory));
  return true;
}

CheckReport HostDevice::take_check_report() {
  return checks_ == nullptr ? CheckReport{} : checks_->take();
}

void* HostDevice::stream_handle(int stream) {
  RZ_CHECK(stream >= 0 && stream < StreamQueue::kStreams);
  // Opaque and not null, because the null stream is a different stream in CUDA.
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(stream) + 1);
}

// ---- Enqueueing --------------------------------------------------------------------------------

Operation& HostDevice::push(int stream, Operation::Kind kind) {
  RZ_CHECK(stream >= 0 && stream < StreamQueue::kStreams);
  Operation& operation = capture_.captures(stream) ? capture_.record(stream) : queue_.push(stream);
  operation.kind = kind;
  operation.call = call_;
  return operation;
}

Status<void> HostDevice::fill(int stream, std::span<const BufferJob> jobs) {
  if (lost_) return fail(*lost_);
  push(stream, Operation::Kind::fill).jobs.assign(jobs.begin(), jobs.end());
  return run_some();
}

Status<void> HostDevice::check(int stream, std::span<const BufferJob> jobs, BufferCheck* results) {
  if (lost_) return fail(*lost_);
  Operation& operation = push(stream, Operation::Kind::check);
  operation.jobs.assign(jobs.begin(), jobs.end());
  operation.results = results;
  return run_some();
}

Status<void> HostDevice::launch(int stream, const KernelRef& kernel, const LaunchShape& shape,
                                const LaunchArgs& args) {
  if (lost_) return fail(*lost_);
  if (auto refused = refusal(kernel, shape)) return fail(*std::move(refused));
  Operation& operation = push(stream, Operation::Kind::launch);
  operation.grid.kernel = kernel;
  operation.grid.grid = index_of(shape.grid);
  operation.grid.block = index_of(shape.block);
  operation.grid.shared_bytes = shape.shared_bytes;
  operation.dependent = shape.dependent;
  const std::size_t length = strnlen(kernel.name, operation.kernel_name.size() - 1);
  std::memcpy(operation.kernel_name.data(), kernel.name, length);
  operation.kernel_name[length] = '\0';
  operation.copy_arguments(args);
  return run_some();
}

Status<void> HostDevice::wait(int stream, int on) {
  if (lost_) return fail(*lost_);
  RZ_CHECK(on >= 0 && on < StreamQueue::kStreams);
  if (capture_.captures(stream) || capture_.captures(on)) return capture_.wait(stream, on);
  enqueue_wait(stream, on, queue_.tickets(on));
  return run_some();
}

void HostDevice::enqueue_wait(int stream, int on, std::uint64_t ticket) {
  Operation& operation = push(stream, Operation::Kind::wait);
  operation.on = on;
  operation.ticket = ticket;
  events_.wait(stream, on, ticket);
}

// Process memory outside the device's ranges counts as pageable memory.
bool HostDevice::may_access(const void* at, std::size_t bytes) const {
  if (guard_.contains(at)) return true;
  for (const PlainMemory* memory : {&plain_, &cached_segments_, &pool_segments_})
    if (memory->contains(at, bytes)) return true;
  return false;
}

Status<void> HostDevice::copy(int stream, void* to, const void* from, std::size_t bytes) {
  if (lost_) return fail(*lost_);
  if (bytes == 0) return {};
  if (!may_access(to, bytes)) return fail(pageable("copy", "destination"));
  if (!may_access(from, bytes)) return fail(pageable("copy", "source"));
  Operation& operation = push(stream, Operation::Kind::copy);
  operation.to = to;
  operation.from = from;
  operation.bytes = bytes;
  return run_some();
}

Status<void> HostDevice::memset(int stream, void* to, std::uint8_t value, std::size_t bytes) {
  if (lost_) return fail(*lost_);
  if (bytes == 0) return {};
  if (!may_access(to, bytes)) return fail(pageable("memset", "destination"));
  Operation& operation = push(stream, Operation::Kind::memset);
  operation.to = to;
  operation.value = value;
  operation.bytes = bytes;
  return run_some();
}

Status<void> HostDevice::await(int stream, int signal) {
  if (lost_) return fail(*lost_);
  push(stream, Operation::Kind::await).signal = signal;
  return run_some();
}

Status<void> HostDevice::give(int stream, int signal) {
  if (lost_) return fail(*lost_);
  push(stream, Operation::Kind::give).signal = signal;
  return run_some();
}

Status<void> HostDevice::begin_capture(int stream) {
  if (lost_) return fail(*lost_);
  RZ_CHECK(!capture_.active() && stream >= 0 && stream < StreamQueue::kStreams);
  capture_.begin(stream);
  return {};
}

Status<int> HostDevice::end_capture(int stream) {
  if (lost_) return fail(*lost_);
  RZ_CHECK(capture_.origin() == stream);
  auto graph = capture_.end();
  if (!graph) return fail(std::move(graph.error()));
  graphs_.push_back(std::move(*graph));
  return static_cast<int>(graphs_.size()) - 1;
}

void HostDevice::start(Operation& operation, int graph) {
  operation.graph = graph;
  operation.left = graphs_[static_cast<std::size_t>(graph)].nodes.size();
  operation.ran.assign(operation.left, false);
}

Status<void> HostDevice::launch_graph(int stream, int graph) {
  if (lost_) return fail(*lost_);
  RZ_CHECK(graph >= 0 && static_cast<std::size_t>(graph) < graphs_.size());
  HostGraph& launched = graphs_[static_cast<std::size_t>(graph)];
  if (capture_.captures(stream)) {
    start(push(stream, Operation::Kind::graph), graph);
    return {};
  }
  if (launched.stream >= 0 && launched.stream != stream) {
    Operation& wait = push(stream, Operation::Kind::wait);
    wait.on = launched.stream;
    wait.ticket = launched.ticket;
  }
  start(push(stream, Operation::Kind::graph), graph);
  launched.stream = stream;
  launched.ticket = queue_.tickets(stream);
  return run_some();
}

std::optional<Failure> HostDevice::refusal(const KernelRef& kernel,
                                           const LaunchShape& shape) const {
  if (kernel.function == nullptr || kernel.thunk == nullptr || kernel.host_thread == nullptr)
    return Failure{Failure::Kind::harness, "no-host-kernel",
                   fmt::format("kernel '{}' was not compiled for the host device", kernel.name)};
  return refused_launch(info_.limits, kernel.name, shape);
}

// ---- Running -----------------------------------------------------------------------------------

Status<void> HostDevice::run_some() {
  if (held_ || pace_ == Pace::at_synchronize) return {};
  std::uint64_t most = UINT64_MAX;
  if (pace_ == Pace::mixed) {
    const std::uint64_t r = rng_.below(4);
    if (r < 2) return {};
    if (r == 2) most = 1 + rng_.below(4);
  }
  for (; most > 0 && queue_.may_advance(); --most) RZ_TRY(run_one());
  return {};
}

Status<void> HostDevice::run_one() {
  const int stream = queue_.choose(stream_rng_);
  const auto queued = queue_.queued(stream);
  Operation& operation = queued.front();
  std::size_t run_together = 1;
  if (operation.kind == Operation::Kind::launch) {
    run_together = overlapping(queued);
    lost_ = run_launches(queued.first(run_together));
  } else {
    lost_ = run(operation);
  }
  if (lost_) return fail(*lost_);
  if (operation.kind == Operation::Kind::graph && operation.left > 0) return {};
  for (; run_together > 0; --run_together) queue_.pop(stream);
  return {};
}

// Number of queued operations that run at the same time: a launch, and launches directly behind it
// that depend on it in a chain. In the natural order, or under a check, only the first launch.
std::size_t HostDevice::overlapping(std::span<const Operation> queued) const {
  std::size_t n = 1;
  if (rng_.natural() || checks_ != nullptr) return n;
  const std::size_t most = std::min(queued.size(), Engine::kMostGrids);
  while (n < most && queued[n].kind == Operation::Kind::launch && queued[n].dependent) ++n;
  return n;
}

std::optional<Failure> HostDevice::run(Operation& operation) {
  switch (operation.kind) {
    case Operation::Kind::fill:
      for (const BufferJob& job : operation.jobs) fill_buffer(job);
      break;
    case Operation::Kind::check:
      for (std::size_t i = 0; i < operation.jobs.size(); ++i)
        operation.results[i] = check_buffer(operation.jobs[i]);
      break;
    case Operation::Kind::launch:
      return run_launches({&operation, 1});
    case Operation::Kind::graph:
      return run_node(operation);
    case Operation::Kind::copy:
      run_copy(operation);
      break;
    case Operation::Kind::memset:
      run_memset(operation);
      break;
    case Operation::Kind::give:
      queue_.give(operation.signal);
      break;
    case Operation::Kind::await:
    case Operation::Kind::wait:
      break;
  }
  return std::nullopt;
}

std::optional<Failure> HostDevice::run_node(Operation& operation) {
  if (operation.left == 0) return std::nullopt;
  auto& nodes = graphs_[static_cast<std::size_t>(operation.graph)].nodes;
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto& after = nodes[i].after;
    if (!operation.ran[i] &&
        std::all_of(after.begin(), after.end(), [&](std::uint32_t n) { return operation.ran[n]; }))
      ready.push_back(i);
  }
  const std::size_t chosen =
      rng_.natural() || ready.size() == 1 ? 0 : stream_rng_.below(ready.size());
  Operation& node = nodes[ready[chosen]].operation;
  if (auto failure = run(node)) return failure;
  if (node.kind == Operation::Kind::graph && node.left > 0) return std::nullopt;
  if (node.kind == Operation::Kind::graph) start(node, node.graph);  // for the next launch
  operation.ran[ready[chosen]] = true;
  --operation.left;
  return std::nullopt;
}

std::optional<Failure> HostDevice::run_launches(std::span<Operation> operations) {
  std::array<const Grid*, Engine::kMostGrids> grids;
  std::size_t count = 0;
  for (Operation& operation : operations) {
    operation.grid.name = operation.kernel_name.data();
    operation.grid.call = operation.call;
    grids[count++] = &operation.grid;
  }
  const Grid& first = *grids[0];
  KernelCheck* const check = checks_ == nullptr ? nullptr : checks_->begin_launch(first);
  auto failure = engine_.run({grids.data(), count}, rng_, check);
  if (check != nullptr) checks_->end_launch(first);
  if (!failure) fault_.end_kernel();
  return failure;
}

// Recorded like a kernel, because the copied ranges may be out of bounds.
void HostDevice::run_copy(const Operation& operation) {
  fault_.begin_kernel("copy", operation.call);
  std::memmove(operation.to, operation.from, operation.bytes);
  fault_.end_kernel();
}

void HostDevice::run_memset(const Operation& operation) {
  fault_.begin_kernel("memset", operation.call);
  std::memset(operation.to, operation.value, operation.bytes);
  fault_.end_kernel();
}

Status<void> HostDevice::hold() {
  held_ = true;
  return {};
}

Status<void> HostDevice::open() {
  held_ = false;
  return {};
}

Status<void> HostDevice::synchronize() {
  if (lost_) return fail(*lost_);
  held_ = false;
  while (!queue_.empty()) {
    if (!queue_.may_advance()) {  // all operations wait for signals that nothing gives
      kept_signals_ = false;
      for (int signal = 0; signal < kOrderSignals; ++signal) queue_.give(signal);
    }
    RZ_TRY(run_one());
  }
  events_.synchronized();
  return {};
}

Status<void> HostDevice::read(void* to, const void* from, std::size_t bytes) {
  if (lost_) return fail(*lost_);
  if (bytes > 0) std::memcpy(to, from, bytes);
  return {};
}

Status<KernelRef> HostDevice::variant(const VariantRequest& request) {
  if (!request.image.empty())
    return fail({Failure::Kind::unsupported, "no-host-variant",
                 fmt::format("{} is compiled for a GPU", request.name)});
  if (request.host.function == nullptr)
    return fail({Failure::Kind::unsupported, "no-host-variant",
                 fmt::format("{} has no host instance of '{}'", request.name, request.expression)});
  KernelRef kernel = request.host;
  if (kernel.name == nullptr || kernel.name[0] == '\0') kernel.name = request.name;
  return kernel;
}

Status<int> HostDevice::encode(const tma::Descriptor& descriptor, TensorMap& map) {
  return encode_for_host(descriptor, map);
}

std::unique_ptr<Device> open_host_device() {
  return std::make_unique<HostDevice>();
}

}  // namespace redzone::device
