// Functions of CPython that are looked up in the program; nothing is linked.
#pragma once

#include <cstddef>

namespace redzone::interpose {

using PyObject = struct PyObjectBody*;
using PyThread = struct PyThreadBody*;

// Null where the program lacks them.
struct PythonApi {
  const unsigned long* version = nullptr;  // 0x030c01f0: 3.12.1; 3.11 and later
  const void* code_type = nullptr;
  int (*is_initialized)() = nullptr;
  int (*is_finalizing)() = nullptr;
  // Need no lock and allocate nothing: they read what does not change while the thread is where it
  // is.
  PyThread (*thread)() = nullptr;                // of the calling thread; null if it has none
  int (*line_of)(PyObject, int) = nullptr;       // of a byte of a code object
  std::ptrdiff_t (*length)(PyObject) = nullptr;  // of a string
  unsigned (*character)(PyObject, std::ptrdiff_t) = nullptr;
  PyThread (*current)() = nullptr;  // of the thread that holds the lock, or null
  // Need the interpreter's lock, and may allocate.
  int (*disable_collection)() = nullptr;
  int (*enable_collection)() = nullptr;
  PyObject (*frame)() = nullptr;  // borrowed
  PyObject (*frame_back)(PyObject) = nullptr;
  PyObject (*frame_code)(PyObject) = nullptr;
  int (*frame_last)(PyObject) = nullptr;  // byte of the code that it is at
  PyObject (*attribute)(PyObject, const char*) = nullptr;
  PyObject (*error)() = nullptr;  // borrowed
  void (*clear_error)() = nullptr;
  void (*retain)(PyObject) = nullptr;
  void (*release)(PyObject) = nullptr;

  bool is_complete() const;
  // Whether this thread does. PyGILState_Check() says so of each thread once there are several
  // interpreters.
  bool holds_lock() const { return current() != nullptr && current() == thread(); }
};

// `find` returns the program's symbol of that name, or null.
PythonApi load_python(void* (*find)(const char* name));

}  // namespace redzone::interpose
