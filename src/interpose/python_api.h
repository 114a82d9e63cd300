// Functions of CPython, looked up in the program; nothing is linked.
#pragma once

#include <cstddef>

namespace redzone::interpose {

using PyObject = struct PyObjectBody*;
using PyThread = struct PyThreadBody*;

// A member is null if the program lacks the symbol.
struct PythonApi {
  const unsigned long* version = nullptr;  // 0x030c01f0: 3.12.1; 3.11 and later
  const void* code_type = nullptr;
  int (*is_initialized)() = nullptr;
  int (*is_finalizing)() = nullptr;
  // These need no lock and do not allocate: they read data that does not change during the call.
  PyThread (*thread)() = nullptr;                // of the calling thread; null if it has none
  int (*line_of)(PyObject, int) = nullptr;       // source line of a byte offset in a code object
  std::ptrdiff_t (*length)(PyObject) = nullptr;  // length of a string
  unsigned (*character)(PyObject, std::ptrdiff_t) = nullptr;
  PyThread (*current)() = nullptr;  // of the thread that holds the lock; may be null
  // These need the interpreter's lock and may allocate.
  int (*disable_collection)() = nullptr;
  int (*enable_collection)() = nullptr;
  PyObject (*frame)() = nullptr;  // borrowed
  PyObject (*frame_back)(PyObject) = nullptr;
  PyObject (*frame_code)(PyObject) = nullptr;
  int (*frame_last)(PyObject) = nullptr;  // byte offset of the current instruction in the code
  PyObject (*attribute)(PyObject, const char*) = nullptr;
  PyObject (*error)() = nullptr;  // borrowed
  void (*clear_error)() = nullptr;
  void (*retain)(PyObject) = nullptr;
  void (*release)(PyObject) = nullptr;

  bool is_complete() const;
  // True if this thread holds the interpreter's lock. PyGILState_Check() always returns true once
  // there are several interpreters.
  bool holds_lock() const { return current() != nullptr && current() == thread(); }
};

// `find` returns the program's symbol of a name, or null.
PythonApi load_python(void* (*find)(const char* name));

}  // namespace redzone::interpose
