// Static shared memory. `__shared__` is `static thread_local` on the host, so the variables of all
// kernels of a shared object are in its thread-local storage. While a block is suspended and
// another runs, the engine keeps a copy of that storage.
//
// Only kernels run meanwhile, so other thread-local variables of the same object keep their values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace redzone::device {

// The calling thread's thread-local storage of the shared object that contains `code`. Empty if the
// object has none, or has not accessed it yet.
std::span<std::byte> thread_statics_of(const void* code);

// The program or shared library that contains some code.
struct CodeObject {
  std::string file;
  std::uintptr_t base = 0;       // added to the addresses in the file
  std::size_t thread_bytes = 0;  // of thread-local storage
  // The beginning of the file in memory: its headers, names and relocations.
  std::span<const std::byte> beginning = {};
};
std::optional<CodeObject> object_of(const void* code);

// Locates the thread-local storage of a shared object in each thread, while the object is loaded.
class ThreadStorage {
 public:
  // For the object that contains `code`.
  static ThreadStorage of(const void* code);

  // The storage of the calling thread, created now if no access has created it yet. It ends with
  // the thread, and may have another address in a later thread with the same id. Empty if the
  // object has no thread-local storage.
  std::span<std::byte> here() const;

 private:
  std::size_t module_ = 0;
  std::size_t bytes_ = 0;
};

// Returns ThreadStorage::of(code).here().
std::span<std::byte> make_thread_statics_of(const void* code);

}  // namespace redzone::device
