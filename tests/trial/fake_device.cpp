#include "trial/fake_device.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>

#include "core/error.h"
#include "device/buffer_math.h"
#include "device/host/encode.h"

namespace redzone::testing {
namespace {

using device::BufferJob;
using device::Failure;

// Calls `f(element pointer, memory index)` for each element and `gap(pointer, bytes)` for each
// watched gap.
template <class F, class G>
void for_each(const BufferJob& job, F f, G gap) {
  const std::size_t element_bytes = dtype_bytes(static_cast<DType>(job.dtype));
  const std::int64_t run = job.size[job.rank - 1];
  for (std::int64_t i = 0; i < job.numel; i += run) {
    auto* row = static_cast<unsigned char*>(job.data) +
                device::run_offset(job, i / run) * static_cast<std::int64_t>(element_bytes);
    for (std::int64_t k = 0; k < run; ++k)
      f(row + k * static_cast<std::int64_t>(element_bytes), i + k);
    if (i + run >= job.numel || job.gap_end_bytes == 0) continue;
    auto* end = row + run * static_cast<std::int64_t>(element_bytes);
    auto* next = static_cast<unsigned char*>(job.data) +
                 device::run_offset(job, i / run + 1) * static_cast<std::int64_t>(element_bytes);
    const auto windows =
        device::gap_windows(static_cast<std::uint64_t>(next - end), job.gap_end_bytes);
    gap(end, windows.bytes);
    if (windows.count == 2) gap(next - windows.bytes, windows.bytes);
  }
}

std::uint64_t bits_at(const unsigned char* p, const BufferJob& job) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, p, dtype_bytes(static_cast<DType>(job.dtype)));
  return bits;
}

std::uint64_t masked(std::uint64_t bits, const BufferJob& job) {
  return bits_at(reinterpret_cast<const unsigned char*>(&bits), job);
}

void run_fill(const BufferJob& job) {
  const auto paint = [&](void* from, std::uint64_t bytes) {
    auto* p = static_cast<unsigned char*>(from);
    for (std::uint64_t i = 0; i < bytes; ++i) p[i] = device::canary_byte(job.canary, p + i);
  };
  for_each(
      job,
      [&](unsigned char* p, std::int64_t i) {
        const std::uint64_t bits = device::fill_bits(job, i);
        std::memcpy(p, &bits, dtype_bytes(static_cast<DType>(job.dtype)));
      },
      paint);
  paint(job.before, job.before_bytes);
  paint(job.after, job.after_bytes);
}

device::BufferCheck run_check(const BufferJob& job) {
  device::BufferCheck c = {};
  c.first_dirty_byte = std::numeric_limits<std::int64_t>::max();
  const auto count = [&](void* from, std::uint64_t bytes) {
    const auto* p = static_cast<const unsigned char*>(from);
    std::uint64_t dirty = 0;
    for (std::uint64_t i = 0; i < bytes; ++i) {
      if (p[i] == device::canary_byte(job.canary, p + i)) continue;
      ++dirty;
      c.first_dirty_byte =
          std::min<std::int64_t>(c.first_dirty_byte, p + i - static_cast<unsigned char*>(job.data));
    }
    return dirty;
  };
  for_each(
      job,
      [&](unsigned char* p, std::int64_t i) {
        c.digest += device::digest_term(bits_at(p, job), i);
        if (job.verify_unchanged && bits_at(p, job) != masked(device::fill_bits(job, i), job))
          ++c.changed;
      },
      [&](void* p, std::uint64_t bytes) { c.dirty_gaps += count(p, bytes); });
  c.dirty_before = count(job.before, job.before_bytes);
  c.dirty_after = count(job.after, job.after_bytes);
  return c;
}

}  // namespace

FakeMemory::~FakeMemory() {
  for (const auto& [base, region] : regions_) std::free(region.base);
}

device::Status<device::Region> FakeMemory::acquire(std::size_t bytes) {
  if (live_bytes + bytes > most_bytes)
    return tl::unexpected(Failure{Failure::Kind::out_of_memory, "", "no memory"});
  live_bytes += bytes;
  if (auto it = cache_.find(bytes); it != cache_.end()) {
    const device::Region region = it->second;
    cache_.erase(it);
    return region;
  }
  ++mapping_calls_;
  constexpr std::size_t kPage = 4096;
  const std::size_t rounded = (bytes + kPage - 1) / kPage * kPage;
  auto* base = static_cast<std::byte*>(std::aligned_alloc(kPage, rounded));
  RZ_CHECK(base != nullptr);
  return regions_[base] = {base, rounded};
}

void FakeMemory::release(device::Region region) {
  released_in_flight += in_flight_ > 0 ? 1 : 0;
  live_bytes -= region.bytes;
  cache_.emplace(region.bytes, region);
}

void FakeMemory::trim() {
  for (const auto& [bytes, region] : cache_) {
    regions_.erase(region.base);
    std::free(region.base);
  }
  cache_.clear();
}

device::Region FakeMemory::region_of(const void* p) const {
  auto it = regions_.upper_bound(static_cast<const std::byte*>(p));
  // An empty buffer is at the end of its region, where the next region may begin.
  while (it != regions_.begin()) {
    const device::Region& region = (--it)->second;
    if (p >= region.base && p <= region.base + region.bytes) return region;
  }
  return {};
}

FakeDevice::FakeDevice() {
  info_.name = "fake";
}

device::Memory& FakeDevice::memory(Allocator allocator) {
  return allocator == Allocator::guard ? guard_ : plain_;
}

device::Status<void> FakeDevice::begin_trial(const device::TrialSettings& with) {
  RZ_CHECK(queue_.empty());
  settings = with;
  capturing_.reset();
  graphs_.clear();
  log.clear();
  std::fill(std::begin(reached_), std::end(reached_), 0);
  caching_.reset();
  return {};
}

device::Status<void> FakeDevice::enqueue(std::string what, int stream, std::function<void()> work) {
  RZ_CHECK(!lost_ && stream < settings.streams);
  const std::string kernel = what.starts_with("launch ") ? what.substr(7) : "";
  log.push_back(stream == 0 ? what : what + " @" + std::to_string(stream));
  if (capturing_) {
    RZ_CHECK((!kernel.empty() || what == "copy" || what == "memset") &&
             "only launches, copies and memsets are captured");
    graphs_.back().push_back({kernel, std::move(work)});
    return {};
  }
  queue_.push_back({kernel, std::move(work)});
  in_flight_ = queue_.size();
  RZ_CHECK(!held_ || queue_.size() <= capacity);
  return {};
}

device::Status<void> FakeDevice::fill(int stream, std::span<const BufferJob> jobs) {
  return enqueue("fill", stream, [copy = std::vector(jobs.begin(), jobs.end())] {
    for (const auto& job : copy) run_fill(job);
  });
}

device::Status<void> FakeDevice::fill_foreign(void*, std::span<const BufferJob> jobs) {
  return enqueue("fill foreign", 0, [copy = std::vector(jobs.begin(), jobs.end())] {
    for (const auto& job : copy) run_fill(job);
  });
}

device::Status<void> FakeDevice::check(int stream, std::span<const BufferJob> jobs,
                                       device::BufferCheck* results) {
  if (check_failure) return tl::unexpected(*check_failure);
  return enqueue("check", stream, [copy = std::vector(jobs.begin(), jobs.end()), results] {
    for (std::size_t i = 0; i < copy.size(); ++i) results[i] = run_check(copy[i]);
  });
}

device::Status<void> FakeDevice::launch(int stream, const KernelRef& kernel, const LaunchShape&,
                                        const LaunchArgs& args) {
  if (refused.contains(kernel.name))
    return tl::unexpected(Failure{Failure::Kind::launch_refused, "invalid-launch", "too wide"});
  std::vector<std::vector<std::byte>> copies;
  for (std::size_t i = 0; i < args.count; ++i) {
    const auto* from = static_cast<const std::byte*>(args.pointers[i]);
    copies.emplace_back(from, from + args.sizes[i]);
  }
  return enqueue(std::string("launch ") + kernel.name, stream, [kernel, copies]() mutable {
    std::vector<void*> pointers;
    for (auto& c : copies) pointers.push_back(c.data());
    kernel.thunk(kernel.function, pointers.data());
  });
}

device::Status<void> FakeDevice::copy(int stream, void* to, const void* from, std::size_t bytes) {
  if (host_pages.contains(to) || host_pages.contains(from))
    return tl::unexpected(Failure{Failure::Kind::launch_refused, "target-error", "pageable"});
  return enqueue("copy", stream, [=] { std::memmove(to, from, bytes); });
}

device::Status<void> FakeDevice::memset(int stream, void* to, std::uint8_t value,
                                        std::size_t bytes) {
  if (host_pages.contains(to))
    return tl::unexpected(Failure{Failure::Kind::launch_refused, "target-error", "pageable"});
  return enqueue("memset", stream, [=] { std::memset(to, value, bytes); });
}

device::Status<void> FakeDevice::wait(int stream, int on) {
  RZ_CHECK(on < settings.streams);
  RZ_CHECK(stream < settings.streams);
  log.push_back("wait " + std::to_string(stream) + " on " + std::to_string(on));
  return {};
}

device::Status<void> FakeDevice::mark(int stream, std::uint32_t number) {
  return enqueue("mark " + std::to_string(number), stream,
                 [this, stream, number] { reached_[stream] = number; });
}

device::Status<void> FakeDevice::begin_capture(int stream) {
  RZ_CHECK(!lost_ && !capturing_);
  log.push_back(stream == 0 ? "capture" : "capture @" + std::to_string(stream));
  capturing_ = stream;
  graphs_.emplace_back();
  return {};
}

device::Status<int> FakeDevice::end_capture(int stream) {
  RZ_CHECK(!lost_ && capturing_ == stream);
  log.push_back("end capture");
  capturing_.reset();
  if (no_captures)
    return tl::unexpected(
        Failure{Failure::Kind::unsupported, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "fake"});
  return static_cast<int>(graphs_.size()) - 1;
}

device::Status<void> FakeDevice::launch_graph(int stream, int graph) {
  RZ_CHECK(!lost_ && !capturing_ && stream < settings.streams);
  const std::string entry = "graph " + std::to_string(graph);
  log.push_back(stream == 0 ? entry : entry + " @" + std::to_string(stream));
  for (const auto& operation : graphs_.at(static_cast<std::size_t>(graph)))
    queue_.push_back(operation);
  in_flight_ = queue_.size();
  RZ_CHECK(!held_ || queue_.size() <= capacity);
  return {};
}

device::Status<void> FakeDevice::hold() {
  RZ_CHECK(!lost_ && !capturing_);
  log.push_back("hold");
  // Work that is already queued runs before the block takes effect.
  if (auto drained = drain(); !drained) return drained;
  held_ = true;
  return {};
}

device::Status<void> FakeDevice::open() {
  RZ_CHECK(!lost_);
  log.push_back("open");
  held_ = false;
  return drain();
}

device::Status<void> FakeDevice::synchronize() {
  RZ_CHECK(!lost_ && !capturing_);
  log.push_back("sync");
  held_ = false;
  return drain();
}

device::Status<void> FakeDevice::drain() {
  for (const auto& operation : queue_) {
    if (faulting.contains(operation.kernel)) {
      lost_ = true;
      return tl::unexpected(Failure{Failure::Kind::fault, "CUDA_ERROR_ILLEGAL_ADDRESS", "fake"});
    }
    operation.work();
  }
  queue_.clear();
  in_flight_ = 0;
  return {};
}

device::Status<void> FakeDevice::read(void* to, const void* from, std::size_t bytes) {
  RZ_CHECK(!lost_ && queue_.empty());
  std::memcpy(to, from, bytes);
  return {};
}

device::Status<int> FakeDevice::encode(const tma::Descriptor& descriptor, TensorMap& map) {
  if (encode_failure) return tl::unexpected(*encode_failure);
  return device::encode_for_host(descriptor, map);
}

device::Status<KernelRef> FakeDevice::variant(const VariantRequest& request) {
  if (unsupported.contains(request.name))
    return tl::unexpected(Failure{Failure::Kind::unsupported, "", "no compiler"});
  return request.host;
}

std::vector<std::string> FakeDevice::logged(std::initializer_list<std::string_view> words) const {
  std::vector<std::string> found;
  for (const auto& entry : log)
    for (const auto word : words)
      if (entry.starts_with(word)) {
        found.push_back(entry);
        break;
      }
  return found;
}

}  // namespace redzone::testing
