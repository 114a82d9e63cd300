#include "interpose/private_memory.h"

#include <sys/mman.h>

#include <cstdlib>

namespace redzone::interpose {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

void* map_pages(std::size_t bytes) {
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) std::abort();
  return at;
}

}  // namespace

void* PrivateMemory::allocate(std::size_t bytes) {
  const std::size_t index = (bytes + kClassBytes - 1) / kClassBytes;
  if (index >= kClasses) return map_pages(bytes);
  if (Free* first = free_[index]) {
    free_[index] = first->next;
    return first;
  }
  const std::size_t rounded = (index == 0 ? 1 : index) * kClassBytes;
  if (left_ < rounded) {
    chunk_ = static_cast<char*>(map_pages(kChunkBytes));
    left_ = kChunkBytes;
  }
  char* at = chunk_;
  chunk_ += rounded;
  left_ -= rounded;
  return at;
}

void PrivateMemory::release(void* memory, std::size_t bytes) {
  const std::size_t index = (bytes + kClassBytes - 1) / kClassBytes;
  if (index >= kClasses) {
    ::munmap(memory, bytes);
    return;
  }
  auto* freed = static_cast<Free*>(memory);
  freed->next = free_[index];
  free_[index] = freed;
}

}  // namespace redzone::interpose
