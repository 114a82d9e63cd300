#include "trial/fetched_outputs.h"

#include <algorithm>

#include "core/device_traits.h"
#include "core/round_up.h"

namespace redzone::trial {
namespace {

// A constant size, so that the region is mapped only once.
constexpr std::size_t kRoomBytes = std::size_t{1} << 20;
// A larger output is read in windows, which takes longer than waiting for the device.
constexpr std::size_t kMostBytes = std::size_t{64} << 10;
constexpr std::size_t kFetchedAlign = 16;
// Mapping the region makes about ten calls, of 1 to 2 ms each while other processes start. Many
// workers run fewer trials than this, so the first trials do without the region.
constexpr std::uint64_t kFewTrials = 16;

bool is_small_output(const TensorBuffer& tensor) {
  return tensor.role != Role::in && tensor.view.numel > 0 && tensor.storage.bytes <= kMostBytes;
}

}  // namespace

FetchedOutputs::~FetchedOutputs() {
  if (region_.base != nullptr && !session_.lost())
    session_.device().pinned_memory().release(region_);
}

void FetchedOutputs::enqueue(std::span<const CallUnit* const> units) {
  if (traits_of(session_.device().info().kind).execution.in_host_memory) return;
  if (session_.trials() <= kFewTrials) return;
  std::size_t used = 0;
  for (const CallUnit* unit : units)
    for (const TensorBuffer& tensor : unit->tensors) {
      if (!is_small_output(tensor) || used + tensor.storage.bytes > kRoomBytes) continue;
      if (region_.base == nullptr) {
        const auto region = session_.device().pinned_memory().acquire(kRoomBytes);
        if (!region) return;  // the outputs are read one by one
        region_ = *region;
      }
      std::byte* const to = region_.base + used;
      if (!session_.fetch(0, to, tensor.at.storage, tensor.storage.bytes)) return;
      copies_.push_back({&tensor, to});
      used = round_up(used + tensor.storage.bytes, kFetchedAlign);
    }
}

const std::byte* FetchedOutputs::of(const TensorBuffer& tensor) const {
  const auto found = std::find_if(copies_.begin(), copies_.end(),
                                  [&](const Copy& copy) { return copy.tensor == &tensor; });
  return found == copies_.end() ? nullptr : found->at;
}

}  // namespace redzone::trial
