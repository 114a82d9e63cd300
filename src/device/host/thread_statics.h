// Static shared memory. `__shared__` is `static thread_local` on the host, so the variables of all
// kernels of a shared object are in its thread-local storage. While a block is suspended in favour
// of another, the engine keeps a copy of that storage.
//
// Only kernels run in between, so other thread-local variables of the same object keep their
// values.
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
  std::uintptr_t base = 0;       // what is added to the addresses in the file
  std::size_t thread_bytes = 0;  // of thread-local storage
  // In memory, the beginning of the file: its headers, names and relocations.
  std::span<const std::byte> beginning = {};
};
std::optional<CodeObject> object_of(const void* code);

// Where each thread has the thread-local storage of a shared object, for as long as that is loaded.
class ThreadStorage {
 public:
  // Of the object that contains `code`.
  static ThreadStorage of(const void* code);

  // The calling thread's; made now if nothing has accessed it yet. It ends with the thread, and may
  // be elsewhere in a later thread with the same id. Empty if the object has none.
  std::span<std::byte> here() const;

 private:
  std::size_t module_ = 0;
  std::size_t bytes_ = 0;
};

// Returns ThreadStorage::of(code).here().
std::span<std::byte> make_thread_statics_of(const void* code);

}  // namespace redzone::device
