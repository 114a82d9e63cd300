#include "device/dry_run/dry_run_device.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstring>
#include <limits>
#include <utility>

#include "core/error.h"
#include "core/page.h"
#include "core/round_up.h"
#include "device/host/encode.h"
#include "device/launch_check.h"

namespace redzone::device {
namespace {

// More than the memory of any device. Less is used if the system provides fewer addresses.
constexpr std::size_t kMostBytes = std::size_t{1} << 44;
constexpr std::size_t kLeastBytes = std::size_t{1} << 32;

}  // namespace

AddressSpace::AddressSpace() {
  for (bytes_ = kMostBytes; bytes_ >= kLeastBytes; bytes_ /= 2) {
    void* at = mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) continue;
    base_ = static_cast<std::byte*>(at);
    return;
  }
  bytes_ = 0;
}

AddressSpace::~AddressSpace() {
  if (base_ != nullptr) munmap(base_, bytes_);
}

Status<Region> AddressSpace::take(std::size_t bytes) {
  const std::size_t left = bytes_ - used_;
  if (left < 2 * kPageBytes || bytes > left - 2 * kPageBytes)
    return tl::unexpected(Failure{Failure::Kind::out_of_memory, "no-addresses",
                                  fmt::format("{} bytes of addresses, {} are left", bytes, left)});
  const std::size_t rounded = round_up(bytes, kPageBytes);
  const Region region{base_ + used_, rounded};
  used_ += rounded + kPageBytes;
  return region;
}

bool AddressSpace::contains(const void* begin, std::size_t bytes) const {
  const auto* at = static_cast<const std::byte*>(begin);
  return at >= base_ && at < base_ + used_ && bytes <= static_cast<std::size_t>(base_ + used_ - at);
}

DryRunDevice::DryRunDevice(VariantHook asked) : asked_(std::move(asked)) {
  info_.kind = DeviceKind::dry_run;
  info_.name = "dry-run";
  info_.memory_bytes = kMostBytes;
}

Status<void> DryRunDevice::begin_trial(const TrialSettings&) {
  space_.begin_trial();
  host_memory_.settle();
  graphs_ = 0;
  return {};
}

void* DryRunDevice::stream_handle(int stream) {
  // Opaque and not null, because the null stream is a different stream in CUDA.
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(stream) + 1);
}

Status<void> DryRunDevice::check(int, std::span<const BufferJob> jobs, BufferCheck* results) {
  constexpr std::int64_t kClean = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    results[i] = {};
    results[i].first_dirty_byte = kClean;
  }
  return {};
}

Status<void> DryRunDevice::launch(int, const KernelRef& kernel, const LaunchShape& shape,
                                  const LaunchArgs&) {
  if (auto refused = refused_launch(info_.limits, kernel.name, shape))
    return tl::unexpected(*std::move(refused));
  return {};
}

bool DryRunDevice::is_known(const void* at, std::size_t bytes) const {
  return space_.contains(at, bytes) || host_memory_.contains(at, bytes);
}

Status<void> DryRunDevice::copy(int, void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return {};
  if (!is_known(to, bytes)) return tl::unexpected(pageable("copy", "destination"));
  if (!is_known(from, bytes)) return tl::unexpected(pageable("copy", "source"));
  return {};
}

Status<void> DryRunDevice::memset(int, void* to, std::uint8_t, std::size_t bytes) {
  if (bytes > 0 && !is_known(to, bytes)) return tl::unexpected(pageable("memset", "destination"));
  return {};
}

Status<void> DryRunDevice::launch_graph(int, int graph) {
  RZ_CHECK(graph >= 0 && graph < graphs_);
  return {};
}

std::size_t DryRunDevice::hold_capacity() const {
  return std::numeric_limits<std::size_t>::max() / 2;
}

Status<void> DryRunDevice::read(void* to, const void*, std::size_t bytes) {
  if (bytes > 0) std::memset(to, 0, bytes);
  return {};
}

Status<KernelRef> DryRunDevice::variant(const VariantRequest& request) {
  if (asked_) asked_(request, box_);
  return KernelRef{.name = request.name};
}

Status<int> DryRunDevice::encode(const tma::Descriptor& descriptor, TensorMap& map) {
  return encode_for_host(descriptor, map);
}

std::unique_ptr<Device> open_dry_run_device() {
  return std::make_unique<DryRunDevice>();
}

std::unique_ptr<Device> open_asking_device(VariantHook asked) {
  return std::make_unique<DryRunDevice>(std::move(asked));
}

}  // namespace redzone::device
