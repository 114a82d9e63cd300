// Shadow memory: what the race check remembers of each address. A page of the program's memory gets
// shadow when it is first accessed. Each cell describes 4 bytes, until an access of fewer bytes
// divides the cells.
#pragma once

#include <redzone/host_checks.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "device/host/thread_order.h"

namespace redzone::device {

// One access of a thread; `clock` 0: no access.
struct Stamp {
  std::uint32_t block = 0;
  ThreadOrder::Clock clock = 0;
  std::uint32_t code = 0;  // offset in the shared object of the kernel
  std::uint16_t thread = 0;
  host::AccessKind kind = host::AccessKind::read;
  bool after_write = false;  // for an atomic read: the cell's atomic write came before it

  explicit operator bool() const { return clock != 0; }
  GridThread by() const { return {block, thread}; }
};

// The last plain write, and later accesses: two plain reads without an order between them (of
// different blocks if possible, else of different warps if possible), and the last atomics. Atomics
// conflict with plain accesses only, so neither kind replaces the other: an access that does not
// race with an atomic may race with the plain access before it. A plain write replaces everything.
struct ShadowCell {
  Stamp write;
  Stamp reads[2];
  Stamp atomic_write, atomic_read;
};

// Pages for several shadows, which return their pages when they are cleared.
class ShadowPool {
 public:
  static constexpr std::uintptr_t kPageBytes = 1024;
  static constexpr std::uintptr_t kWordBytes = 4;

  struct Page {
    std::uintptr_t cell_bytes = kWordBytes;
    std::vector<ShadowCell> cells;
  };

  explicit ShadowPool(std::size_t most_cells) : left_(most_cells) {}

  // Null once the maximum number of cells is in use.
  std::unique_ptr<Page> take();
  void give_back(std::unique_ptr<Page> page);
  // Divides the cells of a page into cells of `cell_bytes` if they are larger. False once the
  // maximum number of cells is in use.
  bool divide(Page& page, std::uintptr_t cell_bytes);

 private:
  std::size_t left_;
  std::vector<std::unique_ptr<Page>> spare_;
};

class Shadow {
 public:
  // `pool` must outlive this object.
  explicit Shadow(ShadowPool& pool) : pool_(pool) {}
  ~Shadow() { clear(); }
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;

  void clear();

  // Calls visit(cell, address of its first byte, its bytes) for each cell of the bytes [at, at +
  // bytes), after dividing cells so that none extends beyond this range. False if the pool has no
  // page or cells for a part of the range.
  template <class Visit>
  bool visit(std::uintptr_t at, std::size_t bytes, Visit visit) {
    const std::uintptr_t end = at + bytes;
    bool complete = true;
    while (at < end) {
      const std::uintptr_t base = at / ShadowPool::kPageBytes * ShadowPool::kPageBytes;
      const std::uintptr_t stop = std::min(end, base + ShadowPool::kPageBytes);
      ShadowPool::Page* const page = page_of(base, at | stop);
      complete &= page != nullptr;
      if (page != nullptr) {
        const std::uintptr_t step = page->cell_bytes;
        for (std::uintptr_t a = at; a < stop; a += step)
          visit(page->cells[(a - base) / step], a, step);
      }
      at = stop;
    }
    return complete;
  }

 private:
  // The page at `base`, with cells so small that they match every access whose begin and end are
  // multiples of the lowest set bit of `bounds`.
  ShadowPool::Page* page_of(std::uintptr_t base, std::uintptr_t bounds);

  ShadowPool& pool_;
  std::unordered_map<std::uintptr_t, std::unique_ptr<ShadowPool::Page>> pages_;  // by first byte
  std::uintptr_t last_base_ = 1;  // address of last_; 1: none
  ShadowPool::Page* last_ = nullptr;
};

}  // namespace redzone::device
