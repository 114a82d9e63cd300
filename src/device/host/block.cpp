#include "device/host/block.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace redzone::device {

void Block::start(host::Index3 at, unsigned threads) {
  index = at;
  threads_ = live_ = runnable_ = threads;
  at_barrier_ = holding_ = 0;
  idle_rounds = 0;
  starve(0, 0);
  copies.clear();
  triggered = false;
  state_.assign(threads, ThreadState::fresh);
  fiber.assign(threads, nullptr);
  if (lanes_.size() < threads) lanes_.resize(threads);
  const unsigned warps = (threads + 31) / 32;
  warps_.assign(warps, Warp{0xffffffffu, 0});
  if (threads % 32 != 0) warps_.back().live = (1u << (threads % 32)) - 1u;
}

void Block::begin_round(Rng& rng) {
  walk_ = Walk(threads_, rng);
  progressed_ = yielded_ = moved_ = false;
  if (stint_rounds_ > 0) --stint_rounds_;
}

void Block::starve(std::uint32_t warps, unsigned rounds) {
  starved_ = warps;
  stint_rounds_ = rounds;
}

bool Block::all_started() const {
  return std::ranges::find(state_, ThreadState::fresh) == state_.end();
}

bool Block::release_barrier() {
  if (live_ == 0 || at_barrier_ != live_) return false;
  released_ = {static_cast<int>(at_barrier_), static_cast<int>(holding_)};
  for (ThreadState& s : state_)
    if (s == ThreadState::barrier) s = ThreadState::ready;
  runnable_ = live_;
  at_barrier_ = holding_ = 0;
  return true;
}

bool Block::arrive_in_warp(int t, std::uint32_t mask, std::uint64_t value, unsigned source,
                           std::uint64_t poison) {
  const std::uint32_t own = 1u << (t % 32);
  Warp& warp = warps_[t / 32];
  lanes_[t].mask = mask | own;
  lanes_[t].value = value;
  lanes_[t].source = source;
  state_[t] = ThreadState::warp;
  warp.waiting |= own;
  progressed_ = true;
  release_group(t / 32, mask | own, poison);
  if (state_[t] != ThreadState::ready || ((mask & warp.live) & ~own) != 0) return false;
  // The thread waited only for itself.
  state_[t] = ThreadState::running;
  --runnable_;
  return true;
}

// Releases the lanes that wait with `mask` if all live lanes of the mask have arrived. The results
// are stored now, because a resumed lane may overwrite its value before another lane has read it.
void Block::release_group(unsigned w, std::uint32_t mask, std::uint64_t poison) {
  Warp& warp = warps_[w];
  const std::uint32_t expected = mask & warp.live;
  if (expected == 0 || (warp.waiting & expected) != expected) return;
  Lane* const lane = &lanes_[w * 32];
  std::uint32_t ballot = 0;
  for (std::uint32_t rest = expected; rest != 0; rest &= rest - 1) {
    const int l = std::countr_zero(rest);
    if (lane[l].mask != mask) return;
    if (lane[l].value != 0) ballot |= 1u << l;
  }
  std::uint32_t asked_absent = 0;
  for (std::uint32_t rest = expected; rest != 0; rest &= rest - 1) {
    const int l = std::countr_zero(rest);
    const unsigned s = lane[l].source;
    const bool took_part = s < 32 && ((expected >> s) & 1u) != 0;
    if (!took_part) asked_absent |= 1u << l;
    lane[l].result = {took_part ? lane[s].value : poison, ballot, expected};
    state_[w * 32 + l] = ThreadState::ready;
  }
  if (releases_ != nullptr) releases_->push_back({w, expected, asked_absent});
  warp.waiting &= ~expected;
  runnable_ += static_cast<unsigned>(std::popcount(expected));
}

void Block::yield(int t) {
  stall(t, false);
}

void Block::stall(int t, bool again) {
  state_[t] = ThreadState::ready;
  ++runnable_;
  yielded_ = true;
  moved_ |= !again;
}

void Block::finish(int t, std::uint64_t poison) {
  state_[t] = ThreadState::done;
  --live_;
  progressed_ = true;
  Warp& warp = warps_[t / 32];
  warp.live &= ~(1u << (t % 32));
  // Other lanes may have waited for this lane only.
  for (std::uint32_t rest = warp.waiting; rest != 0; rest &= rest - 1) {
    const int l = std::countr_zero(rest);
    if (((warp.waiting >> l) & 1u) != 0)
      release_group(t / 32, lanes_[t / 32 * 32 + l].mask, poison);
  }
}

std::string Block::stuck_at() const {
  unsigned in_warp = 0;
  std::uint32_t mask = 0;
  int first = -1;
  for (unsigned t = 0; t < threads_; ++t) {
    if (state_[t] != ThreadState::warp) continue;
    if (in_warp++ == 0) {
      first = static_cast<int>(t);
      mask = lanes_[t].mask;
    }
  }
  std::string text =
      fmt::format("block ({}, {}, {}) of {} threads:", index.x, index.y, index.z, threads_);
  if (at_barrier_ > 0) text += fmt::format(" {} wait at __syncthreads;", at_barrier_);
  if (in_warp > 0)
    text += fmt::format(" {} wait in a warp operation, thread {} with mask {:#010x};", in_warp,
                        first, mask);
  if (runnable_ > 0) text += fmt::format(" {} wait at barriers in shared memory;", runnable_);
  text += fmt::format(" {} have ended", threads_ - live_);
  return text;
}

}  // namespace redzone::device
