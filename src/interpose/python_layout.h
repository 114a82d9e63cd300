// The places where CPython keeps the frames of a thread, so that frames can be read without the
// interpreter's lock: PyTorch releases the lock before it allocates. The offsets are those of a
// version (3.11 to 3.13); they are used only after they have given the same stack as the
// interpreter's own functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "interpose/python_api.h"

namespace redzone::interpose {

class PythonLayout {
 public:
  // True if a layout for this version exists.
  static bool supports(const PythonApi& python);
  // Checks the layout against the interpreter's functions on the stack of this thread, which must
  // hold the lock and run a Python function. Empty if they differ, or the version is not supported.
  static std::optional<PythonLayout> find(const PythonApi& python);

  struct Line {
    PyObject code = nullptr, file = nullptr, function = nullptr;
    int line = 0;
  };
  // Calls `visit(line)` for each frame, innermost first, until it returns false. The thread need
  // not hold the lock.
  template <class Visit>
  void walk(PyThread thread, Visit visit) const {
    const char* frame = innermost(thread);
    for (int depth = 0; frame != nullptr && depth < kMostDepth; ++depth) {
      if (const PyObject code = code_of(frame); code != nullptr) {
        const Line line{code, object_at(code, file_), object_at(code, function_),
                        line_of(frame, code)};
        if (!visit(line)) return;
      }
      frame = previous(frame);
    }
  }
  // The first or last characters of a string, as UTF-8, as many as fit into `room`. "" if one of
  // these is a control character.
  enum class Part : std::uint8_t { beginning, end };
  std::string_view text_of(PyObject string, Part part, std::span<char> room) const;
  // A hash of the string's length and its last characters.
  std::uint64_t end_of(PyObject string) const;

 private:
  static constexpr int kMostDepth = 256;
  struct Version {
    unsigned major_minor;
    std::size_t thread_to_frame;
    // offset of the frame in the structure that thread_to_frame points to
    std::optional<std::size_t> then;
    std::size_t code, previous, instruction;
  };
  static const Version kVersions[];
  static const Version* version_of(const PythonApi& python);

  PythonLayout(const PythonApi& python, const Version& version)
      : python_(&python), version_(&version) {}
  const char* innermost(PyThread thread) const;
  const char* previous(const char* frame) const;
  // Null for frames of the interpreter itself, and for code that is being freed.
  PyObject code_of(const char* frame) const;
  int line_of(const char* frame, PyObject code) const;
  static PyObject object_at(PyObject in, std::size_t offset);
  bool agrees(PyObject frame);
  bool find_names(PyObject code);

  const PythonApi* python_;
  const Version* version_;
  std::size_t bytes_ = 0;                // size of a code object before its instructions
  std::size_t file_ = 0, function_ = 0;  // offsets in a code object
};

}  // namespace redzone::interpose
