#include "device/host/sync_check.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "device/host/thread_order.h"

namespace redzone::device {

void SyncCheck::begin_launch(unsigned threads_of_block, const std::byte* code,
                             std::span<std::byte> statics) {
  SightingCheck::begin_launch(threads_of_block, code, statics);
  threads_ = threads_of_block;
  waits_.clear();
}

void SyncCheck::start_block(std::uint32_t block) {
  Waits& waits = waits_[block];
  waits.in_warp.assign(threads_, nullptr);
  waits.first_of_warp.assign((threads_ + ThreadOrder::kLanes - 1) / ThreadOrder::kLanes, nullptr);
}

void SyncCheck::at_barrier(const void* code) {
  Waits& waits = waits_.at(block_);
  waits.at_barrier = code;
  waits.last = thread_;
  const void*& of_warp = waits.first_of_warp[thread_ / ThreadOrder::kLanes];
  if (waits.first == nullptr) waits.first = code;
  if (of_warp == nullptr) of_warp = code;
  const bool warp_is_apart = lines_.differ(code, of_warp);
  if (!warp_is_apart && !lines_.differ(code, waits.first)) return;
  Sighting apart = here("barrier-divergence");
  apart.warning = !warp_is_apart;
  apart.code = code;
  apart.elsewhere = warp_is_apart ? of_warp : waits.first;
  see(std::move(apart));
}

void SyncCheck::barrier() {
  Waits& waits = waits_.at(block_);
  waits.first = nullptr;
  std::fill(waits.first_of_warp.begin(), waits.first_of_warp.end(), nullptr);
}

void SyncCheck::in_warp(std::uint32_t mask, const void* code) {
  waits_.at(block_).in_warp[thread_] = code;
  if ((mask >> (thread_ % ThreadOrder::kLanes) & 1u) != 0) return;
  Sighting lane = here("unnamed-lane");
  lane.code = code;
  see(std::move(lane));
}

void SyncCheck::passed_without(unsigned) {
  const Waits& waits = waits_.at(block_);
  Sighting barrier = here("barrier-divergence");
  barrier.warning = true;
  barrier.thread = waits.last;
  barrier.code = waits.at_barrier;
  see(std::move(barrier));
}

void SyncCheck::sync_lanes(unsigned warp, std::uint32_t lanes) {
  const auto& in_warp = waits_.at(block_).in_warp;
  const unsigned base = warp * ThreadOrder::kLanes;
  const void* const first = in_warp[base + static_cast<unsigned>(std::countr_zero(lanes))];
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const unsigned thread = base + static_cast<unsigned>(std::countr_zero(rest));
    if (!lines_.differ(in_warp[thread], first)) continue;
    Sighting apart = here("divergent-lane");
    apart.warning = true;
    apart.thread = thread;
    apart.code = in_warp[thread];
    apart.elsewhere = first;
    return see(std::move(apart));
  }
}

void SyncCheck::asked_absent_lane(unsigned thread) {
  Sighting shuffle = here("absent-lane");
  shuffle.warning = true;
  shuffle.thread = thread;
  shuffle.code = waits_.at(block_).in_warp[thread];
  see(std::move(shuffle));
}

}  // namespace redzone::device
