// Evidence that DeviceMemory adds to a finding about a launch: the blocks that the launch's
// arguments point to, and the first launch after which a canary was wrong.
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "interpose/device_memory.h"
#include "interpose/file_limit.h"

namespace redzone::interpose {

bool DeviceMemory::points_to(CuAddress word, std::uint64_t blocks, PointerRecord& out) const {
  for (const auto* map : {&live_, &freed_}) {
    const auto after = map->upper_bound(word);
    if (after == map->begin()) continue;
    const Block& block = std::prev(after)->second;
    if (word > block.address + block.bytes || block.ordinal > blocks) continue;
    out.block_address = block.address;
    out.block_bytes = block.bytes;
    out.block_ordinal = block.ordinal;
    out.block_freed = block.is_freed ? 1 : 0;
    return true;
  }
  return false;
}

void DeviceMemory::save_blocks() const {
  const FileLimitAsError limit;
  const int file = recorder_.create_beside(kBlocksSuffix);
  if (file < 0) return;
  constexpr std::size_t kBatch = 64;
  std::vector<BlockRecord> batch;
  std::size_t saved = 0;
  const auto write = [&] {
    const auto bytes = batch.size() * sizeof(BlockRecord);
    if (::write(file, batch.data(), bytes) != static_cast<ssize_t>(bytes)) saved = kBlocksSaved;
    batch.clear();
  };
  for (const auto* map : {&live_, &freed_})
    for (const auto& [address, block] : *map) {
      if (saved++ >= kBlocksSaved) break;
      batch.push_back({block.address, block.bytes, block.ordinal, block.region.base,
                       block.region.bytes, block.is_freed ? 1u : 0u, block.allocated, block.freed});
      if (batch.size() == kBatch) write();
    }
  write();
  ::close(file);
}

void DeviceMemory::name_launch(FindingRecord& finding, std::uint64_t launch) const {
  const bool known = launches_.copy(
      launch,
      [&](CuAddress word, std::uint64_t blocks, PointerRecord& pointer) {
        return points_to(word, blocks, pointer);
      },
      finding.launch);
  if (known) finding.launches_since_right = launch - last_checked_;
}

void DeviceMemory::check_after(std::uint64_t launch) {
  const std::lock_guard one_at_a_time(checks_);
  Lock lock(mutex_);
  if (abandoned_ || holds_back()) return;
  // Record the launch only if all canaries were compared: otherwise a later check finds what is
  // wrong by now and may attribute it to a later launch.
  if (!compare_live(lock, "cuLaunchKernel", launch) || holds_back() ||
      !compare_sinks(lock, "cuLaunchKernel", launch))
    return;
  last_checked_ = std::max(last_checked_, launch);
}

}  // namespace redzone::interpose
