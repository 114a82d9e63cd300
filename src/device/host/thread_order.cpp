#include "device/host/thread_order.h"

#include <algorithm>

#include "core/error.h"

namespace redzone::device {

namespace {

// Keys of Known: one thread, one warp, or a whole block.
constexpr std::uint64_t kWarpKey = 0x8000, kBlockKey = 0xffff;

constexpr std::uint64_t key_of(std::uint32_t block, std::uint64_t part) {
  return std::uint64_t{block} << 16 | part;
}

}  // namespace

void ThreadOrder::begin(unsigned threads_of_block) {
  threads_ = threads_of_block;
  for (auto& [index, block] : blocks_) spare_.push_back(std::move(block));
  blocks_.clear();
  locations_.clear();
  any_fence_ = false;
}

void ThreadOrder::start_block(std::uint32_t index) {
  std::unique_ptr<BlockClocks> block;
  if (spare_.empty()) {
    block = std::make_unique<BlockClocks>();
  } else {
    block = std::move(spare_.back());
    spare_.pop_back();
  }
  const unsigned warps = (threads_ + kLanes - 1) / kLanes;
  block->own.assign(threads_, 1);
  block->at_barrier = 0;
  block->warp.assign(warps, 0);
  block->lanes.resize(warps);
  for (auto& lanes : block->lanes) lanes.clear();
  for (auto* known : {&block->known, &block->fenced, &block->fenced_in_block})
    known->assign(threads_, nullptr);
  block->any_known = false;
  blocks_[index] = std::move(block);
}

void ThreadOrder::end_block(std::uint32_t index) {
  const auto node = blocks_.extract(index);
  RZ_CHECK(!node.empty());
  spare_.push_back(std::move(node.mapped()));
}

ThreadOrder::KnownPtr ThreadOrder::join(const KnownPtr& a, const KnownPtr& b) {
  if (a == nullptr || a == b) return b;
  if (b == nullptr) return a;
  if (a->everything) return a;
  if (b->everything) return b;
  Known joined;
  joined.until.reserve(a->until.size() + b->until.size());
  auto i = a->until.begin(), j = b->until.begin();
  while (i != a->until.end() || j != b->until.end()) {
    if (j == b->until.end() || (i != a->until.end() && i->first < j->first)) {
      joined.until.push_back(*i++);
    } else if (i == a->until.end() || j->first < i->first) {
      joined.until.push_back(*j++);
    } else {
      joined.until.emplace_back(i->first, std::max(i->second, j->second));
      ++i, ++j;
    }
  }
  if (joined.until.size() > kMostKnown) joined = {.everything = true, .until = {}};
  return std::make_shared<const Known>(std::move(joined));
}

// The threads `first` + i of the block, for the bits i of the mask, or all, know the same from now
// on.
void ThreadOrder::share_known(BlockClocks& block, unsigned first, std::uint32_t mask,
                              unsigned count) {
  if (!block.any_known) return;
  const auto takes_part = [&](unsigned i) { return count > kLanes || ((mask >> i) & 1u) != 0; };
  KnownPtr all;
  for (unsigned i = 0; i < count; ++i)
    if (takes_part(i)) all = join(all, block.known[first + i]);
  for (unsigned i = 0; i < count; ++i)
    if (takes_part(i)) block.known[first + i] = all;
}

void ThreadOrder::barrier(std::uint32_t index) {
  BlockClocks& block = *blocks_.at(index);
  block.at_barrier = *std::max_element(block.own.begin(), block.own.end());
  std::fill(block.own.begin(), block.own.end(), block.at_barrier + 1);
  for (auto& lanes : block.lanes) lanes.clear();
  share_known(block, 0, threads_ >= kLanes ? ~0u : (1u << threads_) - 1u, threads_);
}

void ThreadOrder::sync_lanes(std::uint32_t index, unsigned warp, std::uint32_t lanes) {
  BlockClocks& block = *blocks_.at(index);
  const unsigned first = warp * kLanes;
  const unsigned count = std::min(kLanes, threads_ - first);
  const std::uint32_t all = count == kLanes ? ~0u : (1u << count) - 1u;
  Clock last = 0;
  for (unsigned l = 0; l < count; ++l)
    if (((lanes >> l) & 1u) != 0) last = std::max(last, block.own[first + l]);
  auto& of_lanes = block.lanes[warp];
  if ((lanes & all) == all) {
    block.warp[warp] = last;
    of_lanes.clear();
  } else {
    if (of_lanes.empty()) of_lanes.assign(std::size_t{kLanes} * kLanes, 0);
    Clock joined[kLanes] = {};
    for (unsigned l = 0; l < count; ++l) {
      if (((lanes >> l) & 1u) == 0) continue;
      for (unsigned k = 0; k < count; ++k)
        joined[k] = std::max(joined[k], of_lanes[kLanes * l + k]);
    }
    for (unsigned k = 0; k < count; ++k)
      if (((lanes >> k) & 1u) != 0) joined[k] = last;
    for (unsigned l = 0; l < count; ++l)
      if (((lanes >> l) & 1u) != 0) std::copy_n(joined, kLanes, &of_lanes[kLanes * l]);
  }
  for (unsigned l = 0; l < count; ++l)
    if (((lanes >> l) & 1u) != 0) block.own[first + l] = last + 1;
  share_known(block, first, lanes, count);
}

ThreadOrder::KnownPtr ThreadOrder::all_that_is_known(const BlockClocks& block,
                                                     GridThread thread) const {
  Known known;
  const unsigned warp = thread.thread / kLanes;
  const auto& lanes = block.lanes[warp];
  const auto add = [&](std::uint64_t part, Clock clock) {
    if (clock > 0) known.until.emplace_back(key_of(thread.block, part), clock);
  };
  for (unsigned k = 0; k < kLanes && warp * kLanes + k < threads_; ++k) {
    const unsigned lane = warp * kLanes + k;
    if (lane == thread.thread)
      add(lane, block.own[lane]);
    else if (!lanes.empty())
      add(lane, lanes[kLanes * (thread.thread % kLanes) + k]);
  }
  add(kWarpKey | warp, block.warp[warp]);
  add(kBlockKey, block.at_barrier);
  return join(std::make_shared<const Known>(std::move(known)), block.known[thread.thread]);
}

void ThreadOrder::fence(GridThread thread, host::FenceScope scope) {
  BlockClocks& block = *blocks_.at(thread.block);
  const KnownPtr known = all_that_is_known(block, thread);
  if (scope == host::FenceScope::device) block.fenced[thread.thread] = known;
  block.fenced_in_block[thread.thread] = known;
  ++block.own[thread.thread];
  any_fence_ = true;
}

void ThreadOrder::publish(GridThread thread, std::uintptr_t location) {
  if (!any_fence_) return;
  const BlockClocks& block = *blocks_.at(thread.block);
  const KnownPtr& fenced = block.fenced[thread.thread];
  const KnownPtr& in_block = block.fenced_in_block[thread.thread];
  if (fenced == nullptr && in_block == nullptr) return;
  Location& at = locations_[location];
  at.device = join(at.device, fenced);
  KnownPtr& of_block = at.block[thread.block];
  of_block = join(of_block, in_block);
}

void ThreadOrder::learn(GridThread thread, std::uintptr_t location) {
  if (!any_fence_) return;
  const auto found = locations_.find(location);
  if (found == locations_.end()) return;
  BlockClocks& block = *blocks_.at(thread.block);
  KnownPtr& known = block.known[thread.thread];
  known = join(known, found->second.device);
  const auto in_block = found->second.block.find(thread.block);
  if (in_block != found->second.block.end()) known = join(known, in_block->second);
  block.any_known |= known != nullptr;
}

ThreadOrder::Clock ThreadOrder::now(GridThread thread) const {
  return blocks_.at(thread.block)->own[thread.thread];
}

bool ThreadOrder::knows(const KnownPtr& known, GridThread earlier, Clock at) const {
  if (known == nullptr) return false;
  if (known->everything) return true;
  const auto up_to = [&](std::uint64_t part) {
    const std::uint64_t key = key_of(earlier.block, part);
    const auto found =
        std::lower_bound(known->until.begin(), known->until.end(), key,
                         [](const auto& entry, std::uint64_t k) { return entry.first < k; });
    return found != known->until.end() && found->first == key && at <= found->second;
  };
  return up_to(kBlockKey) || up_to(kWarpKey | earlier.thread / kLanes) || up_to(earlier.thread);
}

bool ThreadOrder::before(GridThread earlier, Clock at, GridThread later) const {
  if (earlier == later) return true;
  const BlockClocks& block = *blocks_.at(later.block);
  if (earlier.block == later.block) {
    if (at <= block.at_barrier) return true;
    const unsigned warp = later.thread / kLanes;
    if (earlier.thread / kLanes == warp) {
      if (at <= block.warp[warp]) return true;
      const auto& lanes = block.lanes[warp];
      if (!lanes.empty() && at <= lanes[kLanes * (later.thread % kLanes) + earlier.thread % kLanes])
        return true;
    }
  }
  return knows(block.known[later.thread], earlier, at);
}

}  // namespace redzone::device
