// Memory for the bookkeeping of a guard. It comes from mmap() and never from malloc(), which may
// itself be guarded.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <utility>

namespace redzone::interpose {

// Not thread-safe: the owner's lock protects it. Freed memory is kept for later requests.
class PrivateMemory {
 public:
  constexpr PrivateMemory() = default;
  PrivateMemory(const PrivateMemory&) = delete;
  PrivateMemory& operator=(const PrivateMemory&) = delete;
  // Chunks are never unmapped, because owners live until the process ends.

  // The result is aligned to 16 bytes. Ends the process if the system has no memory.
  void* allocate(std::size_t bytes);
  void release(void* memory, std::size_t bytes);

 private:
  static constexpr std::size_t kClassBytes = 16;
  static constexpr std::size_t kClasses = 256;  // up to 4 KiB; larger requests map pages
  struct Free {
    Free* next;
  };

  Free* free_[kClasses] = {};
  char* chunk_ = nullptr;
  std::size_t left_ = 0;
};

// Adapter for containers of the standard library.
template <class T>
class PrivateAllocator {
 public:
  using value_type = T;
  explicit PrivateAllocator(PrivateMemory& memory) : memory_(&memory) {}
  template <class U>
  PrivateAllocator(const PrivateAllocator<U>& other) : memory_(other.memory_) {}

  T* allocate(std::size_t n) { return static_cast<T*>(memory_->allocate(n * sizeof(T))); }
  void deallocate(T* at, std::size_t n) { memory_->release(at, n * sizeof(T)); }
  template <class U>
  bool operator==(const PrivateAllocator<U>& other) const {
    return memory_ == other.memory_;
  }

 private:
  template <class>
  friend class PrivateAllocator;
  PrivateMemory* memory_;
};

template <class Key, class Value>
using PrivateMap = std::map<Key, Value, std::less<>, PrivateAllocator<std::pair<const Key, Value>>>;

}  // namespace redzone::interpose
