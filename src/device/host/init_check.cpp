#include "device/host/init_check.h"

#include <algorithm>

namespace redzone::device {
namespace {

bool starts_in(std::span<const std::byte> memory, const std::byte* at) {
  return at >= memory.data() && at < memory.data() + memory.size();
}

bool reads(host::AccessKind kind) {
  return kind != host::AccessKind::write && kind != host::AccessKind::atomic_write;
}

}  // namespace

void InitCheck::begin_launch(unsigned threads_of_block, const std::byte* code,
                             std::span<std::byte> statics) {
  SightingCheck::begin_launch(threads_of_block, code, statics);
  blocks_.clear();
  current_ = nullptr;
  dynamic_ = {};
  statics_ = statics;
  paused_ = false;
}

void InitCheck::enter(std::uint32_t block, std::span<const std::byte> dynamic_shared) {
  SightingCheck::enter(block, dynamic_shared);
  dynamic_ = dynamic_shared;
  current_ = &blocks_.at(block);
  current_->dynamic.resize(dynamic_.size());
  current_->statics.resize(statics_.size());
}

void InitCheck::access(const void* at, std::size_t bytes, host::AccessKind kind, const void* code) {
  const auto* first = static_cast<const std::byte*>(at);
  if (current_ == nullptr) return;
  if (starts_in(dynamic_, first))
    take_in(current_->dynamic, dynamic_, first, bytes, kind, code);
  else if (starts_in(statics_, first))
    take_in(current_->statics, statics_, first, bytes, kind, code);
}

void InitCheck::take_in(std::vector<bool>& written, std::span<const std::byte> memory,
                        const std::byte* at, std::size_t bytes, host::AccessKind kind,
                        const void* code) {
  const auto begin = written.begin() + (at - memory.data());
  const auto end = begin + std::min(static_cast<std::ptrdiff_t>(bytes), written.end() - begin);
  if (reads(kind) && !paused_ && std::find(begin, end, true) == end) {
    Sighting read = here("uninitialized-read");
    read.access = Access::read;
    read.bytes = static_cast<std::uint32_t>(bytes);
    read.at = at;
    read.shared = true;
    read.code = code;
    see(std::move(read));
  }
  if (host::is_write(kind)) std::fill(begin, end, true);
}

}  // namespace redzone::device
