#include "interpose/host_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "interpose/backtrace.h"

namespace redzone::interpose {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr unsigned char kCanary = 0xc5;
constexpr std::size_t kMostReserved = std::size_t{16} << 40;
constexpr std::size_t kLeastReserved = std::size_t{16} << 30;
// A live block takes two mappings: the block and the guard pages behind it. The program needs some
// mappings, too.
constexpr std::size_t kMappingsEach = 2;
constexpr std::size_t kDefaultMappings = 65530;  // the kernel's default

// Reads vm.max_map_count.
std::size_t most_mappings() {
  const int fd = ::open("/proc/sys/vm/max_map_count", O_RDONLY | O_CLOEXEC);
  char text[32] = {};
  const ssize_t got = fd >= 0 ? ::read(fd, text, sizeof text - 1) : -1;
  if (fd >= 0) ::close(fd);
  const unsigned long long most = got > 0 ? std::strtoull(text, nullptr, 10) : 0;
  return most > 0 ? static_cast<std::size_t>(most) : kDefaultMappings;
}

std::uintptr_t up(std::uintptr_t value, std::size_t to) {
  return (value + to - 1) / to * to;
}

void* pages(std::uintptr_t at) {
  return reinterpret_cast<void*>(at);
}

unsigned char byte_at(std::uintptr_t at) {
  return *reinterpret_cast<const unsigned char*>(at);
}

}  // namespace

HostMemory::Use::Use(const HostMemory& memory, Waiting waiting) : memory_(memory) {
  const bool waits = waiting == Waiting::unbounded;
  if (memory.abandoned_) {
    allowed_ = waits;  // read the bookkeeping as it was at the fork
    return;
  }
  // The thread that forks already holds the lock.
  if (memory.forks_ && pthread_equal(memory.holder_, pthread_self()) != 0) {
    allowed_ = true;
    return;
  }
  allowed_ = locked_ = memory.lock(waits);
}

HostMemory::Use::~Use() {
  if (locked_) memory_.unlock();
}

// Returns false if the lock cannot be taken: a signal handler interrupted its holder, or another
// thread forks, which may itself wait for a lock of this thread.
bool HostMemory::lock(bool waits) const {
  if (mutex_.try_lock()) {
    holder_ = pthread_self();
    return true;
  }
  if (pthread_equal(holder_, pthread_self()) != 0) return false;
  for (auto left = kMostLockWait; waits || (left.count() > 0 && !forks_); left -= kStep)
    if (mutex_.try_lock_for(kStep)) {
      holder_ = pthread_self();
      return true;
    }
  return false;
}

void HostMemory::unlock() const {
  holder_ = pthread_t{};
  mutex_.unlock();
}

void HostMemory::lock_for_fork() {
  forks_ = lock(false);
}

void HostMemory::unlock_after_fork() {
  if (!forks_) return;
  forks_ = false;
  unlock();
}

void HostMemory::unlock_in_child() {
  abandoned_ = !forks_;
  unlock_after_fork();
}

HostMemory::HostMemory(const Settings& settings, Recorder& recorder)
    : settings_(settings),
      recorder_(recorder),
      blocks_(PrivateAllocator<std::pair<const std::uintptr_t, Block>>(memory_)),
      freed_(PrivateAllocator<std::uintptr_t>(memory_)),
      survived_(PrivateAllocator<std::pair<const std::uintptr_t, int>>(memory_)) {}

bool HostMemory::reserve() {
  for (std::size_t bytes = kMostReserved; bytes >= kLeastReserved; bytes /= 4) {
    void* const at =
        ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) continue;
    begin_ = reinterpret_cast<std::uintptr_t>(at);
    end_ = begin_ + bytes;
    next_ = begin_ + kGuardBytes;
    most_live_ = most_mappings() / kMappingsEach / 4 * 3;
    return true;
  }
  return false;
}

void* HostMemory::allocate(std::size_t bytes, std::size_t align, bool zero, const Frames& from) {
  const std::size_t promised = settings_.align_bytes != 0 ? settings_.align_bytes : kHostAlignBytes;
  align = std::max(align, promised);
  const Use use(*this, Waiting::bounded);
  if (!use.allowed()) {
    recorder_.count(Counter::left_out_memory);
    return nullptr;
  }
  const std::uint64_t ordinal = ++ordinal_;
  if (in_program_ && !settings_.guards(ordinal)) {
    recorder_.count(Counter::left_out_chosen);
    return nullptr;
  }
  if (live_ >= most_live_) {
    recorder_.count(Counter::left_out_mappings);
    return nullptr;
  }
  const std::size_t left = end_ - next_;
  if (bytes > left / 4 || align > left / 4) {
    recorder_.count(Counter::left_out_memory);
    return nullptr;
  }
  // Reserve room for the block at any position that the alignment requires.
  const std::size_t room = up(bytes, align);
  Block block;
  block.span = align > kPageBytes ? up(next_, align) : next_;
  block.span_bytes = up(room, kPageBytes);
  block.bytes = bytes;
  block.address = block.span;
  if (settings_.placement == Placement::guard_after)
    block.address = block.span + block.span_bytes - room;
  if (block.span + block.span_bytes + kGuardBytes > end_) {
    recorder_.count(Counter::left_out_memory);
    return nullptr;
  }
  if (::mprotect(pages(block.span), block.span_bytes, PROT_READ | PROT_WRITE) != 0) {
    recorder_.count(Counter::left_out_mappings);
    return nullptr;
  }
  next_ = block.span + block.span_bytes + kGuardBytes;
  const std::uintptr_t end = block.span + block.span_bytes;
  std::memset(pages(block.span), kCanary, block.address - block.span);
  std::memset(pages(block.address + bytes), kCanary, end - block.address - bytes);
  // The pages are new, so they are zero.
  if (!zero && settings_.poison >= 0) {
    if (bytes <= kMostPoisoned)
      std::memset(pages(block.address), settings_.poison, bytes);
    else
      recorder_.count(Counter::host_unpoisoned);
  }
  ++live_;
  block.ordinal = ordinal;
  block.allocated = from;
  blocks_.emplace(block.span, block);
  recorder_.count(Counter::host_blocks);
  return pages(block.address);
}

HostMemory::Block* HostMemory::block_at(std::uintptr_t address) {
  auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin()) return nullptr;
  Block& block = std::prev(after)->second;
  return address < block.span + block.span_bytes ? &block : nullptr;
}

bool HostMemory::free(void* at, const char* call, const Frames& from) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  const Use use(*this, Waiting::bounded);
  if (!use.allowed()) return true;  // leave the block as it is: no other allocator may free it
  Block* const block = block_at(address);
  if (block == nullptr || block->is_freed || block->address != address) {
    if (FindingRecord* const finding = recorder_.begin_finding(FindingKind::bad_free)) {
      if (const Block* const known = block != nullptr ? block : nearest(address))
        fill(*finding, *known, address);
      std::strncpy(finding->call, call, kCallBytes - 1);
      finding->where = from;
      recorder_.publish(*finding);
    }
    return false;
  }
  --live_;
  block->is_freed = true;
  block->freed = from;
  compare(*block);
  // Return the memory and merge the guard pages on both sides into one mapping.
  if (::mmap(pages(block->span), block->span_bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
    ::mprotect(pages(block->span), block->span_bytes, PROT_NONE);
  recorder_.count(Counter::host_frees);
  freed_.push_back(block->span);
  if (freed_.size() > kFreedKept) {
    blocks_.erase(freed_.front());
    freed_.pop_front();
  }
  return true;
}

void HostMemory::begin_program() {
  const Use use(*this, Waiting::unbounded);
  ordinal_ = 0;
  // From here on, the counters are for the program's own blocks.
  recorder_.reset(Counter::host_blocks);
  recorder_.reset(Counter::host_frees);
  in_program_ = true;
}

std::size_t HostMemory::bytes_of(const void* at) const {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  // Wait without a limit, because a caller that moves the block needs its size.
  const Use use(*this, Waiting::unbounded);
  auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin()) return 0;
  const Block& block = std::prev(after)->second;
  return block.address == address && !block.is_freed ? block.bytes : 0;
}

const HostMemory::Block* HostMemory::nearest(std::uintptr_t address) const {
  const auto after = blocks_.upper_bound(address);
  const Block* best = nullptr;
  std::uintptr_t least = 0;
  const auto offer = [&](const Block& block) {
    const std::uintptr_t end = block.address + block.bytes;
    const std::uintptr_t distance = address < block.address ? block.address - address
                                    : address >= end        ? address - end + 1
                                                            : 0;
    if (best == nullptr || distance < least) best = &block, least = distance;
  };
  if (after != blocks_.begin()) offer(std::prev(after)->second);
  if (after != blocks_.end()) offer(after->second);
  return best;
}

void HostMemory::fill(FindingRecord& finding, const Block& block, std::uintptr_t address) const {
  finding.address = address;
  finding.block_address = block.address;
  finding.block_bytes = block.bytes;
  finding.block_ordinal = block.ordinal;
  finding.block_freed = block.is_freed ? 1 : 0;
  finding.allocated = block.allocated;
  finding.freed = block.freed;
  if (address < block.address) {
    finding.side = Side::before;
    finding.distance_bytes = block.address - address;
  } else if (address >= block.address + block.bytes) {
    finding.side = Side::after;
    finding.distance_bytes = address - (block.address + block.bytes) + 1;
  } else {
    finding.side = Side::inside;
    finding.distance_bytes = 0;
  }
}

// Locks in a signal handler. This thread cannot hold the lock, since the bookkeeping touches only
// mapped memory. Another thread may hold it, or may have died with it.
bool HostMemory::lock_in_handler() const {
  constexpr int kTries = 1000;
  for (int i = 0; i < kTries; ++i) {
    if (mutex_.try_lock()) return true;
    const timespec ms{0, 1000000};
    ::nanosleep(&ms, nullptr);
  }
  return false;
}

bool HostMemory::report_fault(std::uint64_t address, Access access, int signal,
                              std::uint64_t instruction) {
  if (!owns(pages(address))) return false;
  const bool locked = lock_in_handler();
  FindingRecord* const finding = recorder_.begin_finding(FindingKind::guard_page);
  if (finding != nullptr) {
    finding->access = access;
    finding->code = signal;
    finding->address = address;
    if (const Block* const block = locked ? nearest(address) : nullptr) {
      fill(*finding, *block, address);
      if (block->is_freed && address >= block->span && address < block->span + block->span_bytes)
        finding->kind = FindingKind::after_free;
    }
  }
  if (locked) mutex_.unlock();
  if (finding != nullptr) {
    // The unwinder reads instructions that belong to no function, and here they cannot be read.
    if (access == Access::execute) {
      finding->where.addresses[0] = instruction;
      finding->where.count = 1;
    } else {
      take_backtrace_from(instruction, finding->where);
    }
    recorder_.publish(*finding);
  }
  return true;
}

bool HostMemory::survive(std::uint64_t address, Access access) {
  // Memory of blocks is not executable, so a jump would fault again.
  if (settings_.on_error != OnError::go_on || access == Access::execute || !lock_in_handler())
    return false;
  const bool out = replace_page(address & ~static_cast<std::uint64_t>(kPageBytes - 1));
  mutex_.unlock();
  if (out) recorder_.count(Counter::faults_survived);
  return out;
}

bool HostMemory::replace_page(std::uintptr_t page) {
  // Do not replace a page that no block has used yet, because it will be zeroed memory of a block.
  if (page >= next_) return false;
  // A program may protect its own memory, which must not be replaced.
  const Block* const block = nearest(page);
  if (block != nullptr && !block->is_freed && page >= block->span &&
      page < block->span + block->span_bytes)
    return false;
  // Another thread may have faulted on this page before it was mapped, and must retry. A thread
  // that keeps faulting accesses a page that the program has protected since.
  constexpr int kMostFaults = 1000;
  if (const auto known = survived_.find(page); known != survived_.end())
    return ++known->second < kMostFaults;
  // Map the page with its contents in one step, because other threads may use it at once.
  void* const made =
      ::mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) return false;
  if (settings_.poison >= 0) std::memset(made, settings_.poison, kPageBytes);
  if (::mremap(made, kPageBytes, kPageBytes, MREMAP_MAYMOVE | MREMAP_FIXED, pages(page)) ==
      MAP_FAILED) {
    ::munmap(made, kPageBytes);
    return false;
  }
  survived_.emplace(page, 1);
  return true;
}

void HostMemory::compare(const Block& block) {
  recorder_.count(Counter::canaries_checked);
  compare_zone(block, block.span, block.address, Side::before);
  compare_zone(block, block.address + block.bytes, block.span + block.span_bytes, Side::after);
}

void HostMemory::compare_zone(const Block& block, std::uintptr_t from, std::uintptr_t to,
                              Side side) {
  std::size_t wrong = 0;
  std::uintptr_t nearest_wrong = 0;
  for (std::uintptr_t at = from; at < to; ++at) {
    if (byte_at(at) == kCanary) continue;
    // The wrong byte nearest to the block is the last one before it, or the first one after it.
    if (wrong++ == 0 || side == Side::before) nearest_wrong = at;
  }
  if (wrong == 0) return;
  FindingRecord* const finding = recorder_.begin_finding(FindingKind::canary);
  if (finding == nullptr) return;
  finding->access = Access::write;
  fill(*finding, block, nearest_wrong);
  finding->wrong_bytes = wrong;
  recorder_.publish(*finding);
}

void HostMemory::compare_live() {
  const Use use(*this, Waiting::bounded);
  if (!use.allowed()) return;
  for (const auto& [span, block] : blocks_)
    if (!block.is_freed) compare(block);
}

}  // namespace redzone::interpose
