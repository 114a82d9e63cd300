#include "trial/own_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "trial/raw_job.h"

namespace redzone::trial {
namespace {

constexpr std::size_t kAlign = 256;  // as cudaMalloc() promises
constexpr std::size_t kAllBytes = std::numeric_limits<std::size_t>::max();

}  // namespace

void OwnBlocks::begin() {
  const std::lock_guard lock(mutex_);
  // All streams were idle when the previous trial ended.
  if (!state_.session.lost())
    for (const Block& block : released_) block.memory->release(block.region);
  released_.clear();
  counts_ = {};
  in_trial_ = true;
}

void OwnBlocks::close() {
  const std::lock_guard lock(mutex_);
  in_trial_ = false;
}

std::optional<OwnMemory> OwnBlocks::end() {
  const std::lock_guard lock(mutex_);
  in_trial_ = false;
  for (auto& [at, block] : blocks_) {
    if (block.of_trial == nullptr) continue;
    state_.memory.give_up(block.region);
    block.of_trial = nullptr;
  }
  if (!connected_) return std::nullopt;
  return counts_;
}

void* OwnBlocks::allocate(std::size_t bytes, void* stream) {
  const std::lock_guard lock(mutex_);
  Session& session = state_.session;
  if (bytes == 0 || session.lost()) return nullptr;
  session.device().attach_thread();
  return in_trial_ && !session.stopped() ? allocate_in_trial(bytes, stream)
                                         : allocate_plain(bytes, stream);
}

void* OwnBlocks::allocate_plain(std::size_t bytes, void* stream) {
  device::Memory& memory = state_.session.device().memory(Allocator::plain);
  const auto region = memory.acquire(bytes);
  if (!region) return nullptr;
  ++counts_.other_blocks;
  counts_.other_bytes += bytes;
  blocks_[region->base] = {stream, *region, &memory, nullptr, false};
  return region->base;
}

void* OwnBlocks::allocate_in_trial(std::size_t bytes, void* stream) {
  device::Region region;
  const auto at = state_.acquire_lasting({bytes, 0, kAlign}, region);
  if (!at) return nullptr;
  ++counts_.blocks;
  counts_.bytes += bytes;
  auto& a = state_.allocations.emplace_back();
  a.name = a.label = fmt::format("torch#{}", counts_.blocks);
  a.bytes = bytes;
  a.align = kAlign;
  // 0 for a block allocated before the first call
  a.call = std::max(state_.session.call(), std::int32_t{0});
  a.region = region;
  a.at = *at;
  a.job = raw_job(*at, bytes, state_.mode.poison);
  blocks_[at->data] = {stream, region, &state_.memory.lasting(), &a, false};
  if (!state_.checks) return at->data;
  state_.watch(a.label, a.call, *at, bytes);
  return fill(stream, a.job) ? at->data : nullptr;
}

bool OwnBlocks::fill(void* stream, const device::BufferJob& job) {
  return state_.session.fill_on(stream, {&job, 1});
}

bool OwnBlocks::free(void* at) {
  const std::lock_guard lock(mutex_);
  const auto it = blocks_.find(at);
  if (it == blocks_.end()) return false;
  Block block = it->second;
  blocks_.erase(it);
  state_.session.device().attach_thread();
  if (block.of_trial == nullptr)
    released_.push_back(block);
  else
    poison_freed(block);
  return true;
}

void OwnBlocks::poison_freed(Block& block) {
  RawBuffer& buffer = *block.of_trial;
  buffer.freed = true;
  if (!in_trial_ || block.shared || !state_.watches_freed() || state_.session.stopped()) return;
  buffer.watched = true;
  buffer.job = freed_job(buffer.at, buffer.bytes, state_.mode.poison, kAllBytes);
  fill(block.stream, without_canaries(buffer.job));
}

void OwnBlocks::use_on(void* at, void* stream) {
  const std::lock_guard lock(mutex_);
  const auto it = blocks_.find(at);
  if (it != blocks_.end() && it->second.stream != stream) it->second.shared = true;
}

void OwnBlocks::open_gate() {
  const std::lock_guard lock(mutex_);
  if (in_trial_ && !state_.session.lost()) state_.session.open();
}

}  // namespace redzone::trial
