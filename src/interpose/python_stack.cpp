#include "interpose/python_stack.h"

#include <atomic>
#include <cstddef>

#include "interpose/internal_scope.h"

namespace redzone::interpose {
namespace {

using Object = struct PyObjectBody*;

// Of CPython, by their names.
struct Python {
  int (*is_initialized)() = nullptr;
  int (*is_finalizing)() = nullptr;
  int (*holds_lock)() = nullptr;
  int (*disable_collection)() = nullptr;
  int (*enable_collection)() = nullptr;
  Object (*frame)() = nullptr;             // borrowed
  Object (*frame_back)(Object) = nullptr;  // these two are new references
  Object (*frame_code)(Object) = nullptr;
  int (*frame_line)(Object) = nullptr;
  Object (*attribute)(Object, const char*) = nullptr;
  const char* (*text)(Object, std::ptrdiff_t*) = nullptr;
  Object (*error)() = nullptr;  // borrowed
  void (*clear_error)() = nullptr;
  void (*release)(Object) = nullptr;

  bool is_complete() const {
    return is_initialized != nullptr && is_finalizing != nullptr && holds_lock != nullptr &&
           disable_collection != nullptr && enable_collection != nullptr && frame != nullptr &&
           frame_back != nullptr && frame_code != nullptr && frame_line != nullptr &&
           attribute != nullptr && text != nullptr && error != nullptr && clear_error != nullptr &&
           release != nullptr;
  }
};

// Lines that have a number. The code of each is kept alive, so its address is of no other code.
struct Known {
  Object code = nullptr;
  int line = 0;
  std::uint32_t number = 0;
};
constexpr std::size_t kKnown = 2 * kPythonLines;

constinit Python python;
constinit bool found = false;
constinit Known known[kKnown];
// The interpreter's lock is enough, but an interpreter may have several (PEP 684).
constinit std::atomic_flag busy = ATOMIC_FLAG_INIT;

template <class Function>
void load(Function& out, void* function) {
  if (function != nullptr) out = reinterpret_cast<Function>(function);
}

std::string_view text_of(Object text) {
  std::ptrdiff_t bytes = 0;
  const char* const out = text == nullptr ? nullptr : python.text(text, &bytes);
  return out == nullptr ? std::string_view()
                        : std::string_view(out, static_cast<std::size_t>(bytes));
}

// An attribute of a code object; null if there is none.
Object attribute(Object code, const char* name) {
  const Object out = python.attribute(code, name);
  if (out == nullptr) python.clear_error();
  return out;
}

std::uint32_t add(Recorder& recorder, Object code, int line) {
  if (python.error() != nullptr) return 0;  // it would be lost
  const Object file = attribute(code, "co_filename");
  Object function = attribute(code, "co_qualname");  // 3.11 and later
  if (function == nullptr) function = attribute(code, "co_name");
  const std::uint32_t out =
      recorder.add_python_line(text_of(file), text_of(function), static_cast<std::uint32_t>(line));
  if (file != nullptr) python.release(file);
  if (function != nullptr) python.release(function);
  if (python.error() != nullptr) python.clear_error();
  return out;
}

// Takes over the reference to the code.
std::uint32_t number_of(Recorder& recorder, Object code, int line) {
  std::size_t at = (reinterpret_cast<std::size_t>(code) / 16 * 31 + static_cast<unsigned>(line));
  for (at %= kKnown; known[at].code != nullptr; at = (at + 1) % kKnown)
    if (known[at].code == code && known[at].line == line) {
      python.release(code);
      return known[at].number;
    }
  const std::uint32_t out = add(recorder, code, line);
  if (out == 0)
    python.release(code);
  else
    known[at] = {code, line, out};
  return out;
}

}  // namespace

void find_python(void* (*find)(const char* name)) {
  load(python.is_initialized, find("Py_IsInitialized"));
  load(python.is_finalizing, find("_Py_IsFinalizing"));  // before 3.13
  load(python.is_finalizing, find("Py_IsFinalizing"));
  load(python.holds_lock, find("PyGILState_Check"));
  load(python.disable_collection, find("PyGC_Disable"));
  load(python.enable_collection, find("PyGC_Enable"));
  load(python.frame, find("PyEval_GetFrame"));
  load(python.frame_back, find("PyFrame_GetBack"));
  load(python.frame_code, find("PyFrame_GetCode"));
  load(python.frame_line, find("PyFrame_GetLineNumber"));
  load(python.attribute, find("PyObject_GetAttrString"));
  load(python.text, find("PyUnicode_AsUTF8AndSize"));
  load(python.error, find("PyErr_Occurred"));
  load(python.clear_error, find("PyErr_Clear"));
  load(python.release, find("Py_DecRef"));
  found = python.is_complete();
}

void take_python_stack(Recorder& recorder, Frames& out) {
  out.python_count = 0;
  if (!found || python.is_initialized() == 0 || python.is_finalizing() != 0 ||
      python.holds_lock() == 0 || busy.test_and_set(std::memory_order_acquire))
    return;
  {
    const InternalScope scope;
    // A collection would run code of the program within the call that this is about.
    const bool collects = python.disable_collection() != 0;
    Object frame = python.frame();
    bool owned = false;  // the innermost frame is borrowed
    while (frame != nullptr && out.python_count < kPythonFrames) {
      const Object code = python.frame_code(frame);
      const std::uint32_t number =
          code == nullptr ? 0 : number_of(recorder, code, python.frame_line(frame));
      if (number != 0) out.python[out.python_count++] = number;
      const Object back = python.frame_back(frame);
      if (owned) python.release(frame);
      frame = back;
      owned = true;
    }
    if (owned && frame != nullptr) python.release(frame);
    if (collects) python.enable_collection();
  }
  busy.clear(std::memory_order_release);
}

}  // namespace redzone::interpose
