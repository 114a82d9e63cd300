#include "device/host/thread_order.h"

#include <algorithm>
#include <span>

#include "core/error.h"

namespace redzone::device {

namespace {

// Parts of the keys in Known::until: one thread, one warp, or a whole block.
constexpr std::uint64_t kWarpKey = 0x8000, kBlockKey = 0xffff;

constexpr std::uint64_t key_of(std::uint32_t block, std::uint64_t part) {
  return std::uint64_t{block} << 16 | part;
}

using Entry = std::pair<std::uint64_t, ThreadOrder::Clock>;

bool is_before(const Entry& entry, std::uint64_t key) {
  return entry.first < key;
}

// The entries of one block.
std::span<const Entry> of_block(std::span<const Entry> entries, std::uint32_t block) {
  const auto begin = std::lower_bound(entries.begin(), entries.end(), key_of(block, 0), is_before);
  return {begin, std::upper_bound(begin, entries.end(), key_of(block, kBlockKey),
                                  [](std::uint64_t key, const Entry& e) { return key < e.first; })};
}

std::vector<Entry> merged(std::span<const Entry> a, std::span<const Entry> b) {
  std::vector<Entry> all;
  all.reserve(a.size() + b.size());
  auto i = a.begin(), j = b.begin();
  while (i != a.end() || j != b.end()) {
    if (j == b.end() || (i != a.end() && i->first < j->first)) {
      all.push_back(*i++);
    } else if (i == a.end() || j->first < i->first) {
      all.push_back(*j++);
    } else {
      all.emplace_back(i->first, std::max(i->second, j->second));
      ++i, ++j;
    }
  }
  return all;
}

}  // namespace

void ThreadOrder::begin(unsigned threads_of_block) {
  threads_ = threads_of_block;
  for (auto& [index, block] : blocks_) spare_.push_back(std::move(block));
  blocks_.clear();
  locations_.clear();
  any_fence_ = guessed_ = false;
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
  block->shared.clear();
  block->any_known = block->any_fence = false;
  blocks_[index] = std::move(block);
}

void ThreadOrder::end_block(std::uint32_t index) {
  const auto node = blocks_.extract(index);
  RZ_CHECK(!node.empty());
  spare_.push_back(std::move(node.mapped()));
}

ThreadOrder::KnownPtr ThreadOrder::join(const KnownPtr& a, const KnownPtr& b,
                                        std::optional<std::uint32_t> own) {
  if (a == nullptr || a == b) return b;
  if (b == nullptr) return a;
  Known joined{.everything = a->everything || b->everything, .until = {}};
  if (!joined.everything) {
    joined.until = merged(a->until, b->until);
    joined.everything = joined.until.size() > kMostKnown;
  }
  if (joined.everything) {
    joined.until.clear();
    if (own) joined.until = merged(of_block(a->until, *own), of_block(b->until, *own));
  }
  return std::make_shared<const Known>(std::move(joined));
}

// Replaces the entries of all threads of a warp, or of the block `index`, by one entry for the warp
// or the block.
ThreadOrder::KnownPtr ThreadOrder::compact(const KnownPtr& known, std::uint32_t index) const {
  const std::span<const Entry> until = known->until, own = of_block(until, index);
  if (own.size() < 2) return known;
  std::vector<Clock> thread(threads_, 0), warp((threads_ + kLanes - 1) / kLanes, 0);
  Clock all = 0;
  for (const auto& [key, clock] : own) {
    const std::uint64_t part = key & kBlockKey;
    (part == kBlockKey ? all : part < kWarpKey ? thread[part] : warp[part - kWarpKey]) = clock;
  }
  for (unsigned w = 0; w < warp.size(); ++w) {
    const auto first = thread.begin() + w * kLanes;
    const auto last = thread.begin() + std::min(threads_, (w + 1) * kLanes);
    warp[w] = std::max(warp[w], *std::min_element(first, last));
  }
  all = std::max(all, *std::min_element(warp.begin(), warp.end()));
  Known compacted{.everything = known->everything, .until = {until.begin(), own.begin()}};
  const auto add = [&](std::uint64_t part, Clock clock, Clock covered) {
    if (clock > covered) compacted.until.emplace_back(key_of(index, part), clock);
  };
  for (unsigned t = 0; t < threads_; ++t) add(t, thread[t], std::max(warp[t / kLanes], all));
  for (unsigned w = 0; w < warp.size(); ++w) add(kWarpKey | w, warp[w], all);
  add(kBlockKey, all, 0);
  compacted.until.insert(compacted.until.end(), own.end(), until.end());
  return std::make_shared<const Known>(std::move(compacted));
}

// Gives the threads `first` + i of the block the same knowledge: those whose bit i is set in the
// mask, or all if `count` exceeds a warp. From now on each of them publishes what any of them has
// fenced.
void ThreadOrder::share(std::uint32_t index, unsigned first, std::uint32_t mask, unsigned count) {
  BlockClocks& block = *blocks_.at(index);
  const auto takes_part = [&](unsigned i) { return count > kLanes || ((mask >> i) & 1u) != 0; };
  const auto share_one = [&](std::vector<KnownPtr>& of_thread) {
    KnownPtr all, last;
    bool joined = false;
    for (unsigned i = 0; i < count; ++i) {
      const KnownPtr& one = of_thread[first + i];
      if (!takes_part(i) || one == nullptr || one == last) continue;
      joined |= all != nullptr;
      all = join(all, one, index);
      last = one;
    }
    if (joined) all = compact(all, index);
    for (unsigned i = 0; i < count; ++i)
      if (takes_part(i)) of_thread[first + i] = all;
  };
  if (block.any_known) share_one(block.known);
  if (!block.any_fence) return;
  share_one(block.fenced);
  share_one(block.fenced_in_block);
}

void ThreadOrder::barrier(std::uint32_t index) {
  BlockClocks& block = *blocks_.at(index);
  block.at_barrier = *std::max_element(block.own.begin(), block.own.end());
  std::fill(block.own.begin(), block.own.end(), block.at_barrier + 1);
  for (auto& lanes : block.lanes) lanes.clear();
  share(index, 0, threads_ >= kLanes ? ~0u : (1u << threads_) - 1u, threads_);
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
  share(index, first, lanes, count);
}

ThreadOrder::KnownPtr ThreadOrder::all_that_is_known(const BlockClocks& block,
                                                     GridThread thread) const {
  Known known;
  const unsigned warp = thread.thread / kLanes;
  const auto& lanes = block.lanes[warp];
  const auto add = [&](std::uint64_t part, Clock clock, Clock covered) {
    if (clock > covered) known.until.emplace_back(key_of(thread.block, part), clock);
  };
  for (unsigned k = 0; k < kLanes && warp * kLanes + k < threads_; ++k) {
    const unsigned lane = warp * kLanes + k;
    if (lane == thread.thread)
      add(lane, block.own[lane], block.at_barrier);
    else if (!lanes.empty())
      add(lane, lanes[kLanes * (thread.thread % kLanes) + k], block.at_barrier);
  }
  add(kWarpKey | warp, block.warp[warp], block.at_barrier);
  add(kBlockKey, block.at_barrier, 0);
  return join(std::make_shared<const Known>(std::move(known)), block.known[thread.thread],
              thread.block);
}

void ThreadOrder::fence(GridThread thread, host::FenceScope scope) {
  BlockClocks& block = *blocks_.at(thread.block);
  const KnownPtr known = all_that_is_known(block, thread);
  if (scope == host::FenceScope::device) block.fenced[thread.thread] = known;
  block.fenced_in_block[thread.thread] = known;
  ++block.own[thread.thread];
  any_fence_ = block.any_fence = true;
}

void ThreadOrder::publish(GridThread thread, Place location) {
  if (!any_fence_) return;
  BlockClocks& block = *blocks_.at(thread.block);
  const KnownPtr& fenced = block.fenced[thread.thread];
  const KnownPtr& in_block = block.fenced_in_block[thread.thread];
  if (fenced == nullptr && in_block == nullptr) return;
  Location* const at = location.shared ? nullptr : &locations_[location.address];
  if (at != nullptr) at->device = join(at->device, fenced, std::nullopt);
  KnownPtr& carried = at != nullptr ? at->block[thread.block] : block.shared[location.address];
  carried = join(carried, in_block, thread.block);
}

void ThreadOrder::learn(GridThread thread, Place location) {
  if (!any_fence_) return;
  BlockClocks& block = *blocks_.at(thread.block);
  KnownPtr& known = block.known[thread.thread];
  const auto learn_from = [&](const auto& carried, auto key) {
    const auto found = carried.find(key);
    if (found != carried.end()) known = join(known, found->second, thread.block);
  };
  if (location.shared) {
    learn_from(block.shared, location.address);
  } else if (const auto at = locations_.find(location.address); at != locations_.end()) {
    known = join(known, at->second.device, thread.block);
    learn_from(at->second.block, thread.block);
  }
  block.any_known |= known != nullptr;
}

ThreadOrder::Clock ThreadOrder::now(GridThread thread) const {
  return blocks_.at(thread.block)->own[thread.thread];
}

bool ThreadOrder::before(GridThread earlier, Clock at, GridThread later) {
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
  const KnownPtr& known = block.known[later.thread];
  if (known == nullptr) return false;
  const auto up_to = [&](std::uint64_t part) {
    const std::uint64_t key = key_of(earlier.block, part);
    const auto found = std::lower_bound(known->until.begin(), known->until.end(), key, is_before);
    return found != known->until.end() && found->first == key && at <= found->second;
  };
  if (up_to(kBlockKey) || up_to(kWarpKey | earlier.thread / kLanes) || up_to(earlier.thread))
    return true;
  const bool guess = known->everything && earlier.block != later.block;
  guessed_ |= guess;
  return guess;
}

}  // namespace redzone::device
