#include "device/host/sync_check.h"

namespace redzone::device {

void SyncCheck::begin_launch(unsigned threads_of_block, const std::byte* code,
                             std::span<std::byte> statics) {
  SightingCheck::begin_launch(threads_of_block, code, statics);
  threads_ = threads_of_block;
  waits_.clear();
}

void SyncCheck::start_block(std::uint32_t block) {
  waits_[block].code.assign(threads_, nullptr);
}

void SyncCheck::waits(const void* code) {
  Waits& waits = waits_.at(block_);
  waits.code[thread_] = code;
  waits.last = thread_;
}

void SyncCheck::left(unsigned) {
  const Waits& waits = waits_.at(block_);
  Sighting barrier = here("barrier-divergence");
  barrier.thread = waits.last;
  barrier.code = waits.code[waits.last];
  see(std::move(barrier));
}

void SyncCheck::astray(unsigned thread) {
  Sighting shuffle = here("absent-lane");
  shuffle.thread = thread;
  shuffle.code = waits_.at(block_).code[thread];
  see(std::move(shuffle));
}

}  // namespace redzone::device
