// Where CPython keeps the frames of a thread, so that they can be read without the interpreter's
// lock: PyTorch releases it before it allocates. The places in frames are those of a version (3.11
// to 3.13); they are used only after they have given the same stack as the interpreter's own
// functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "interpose/python_api.h"

namespace redzone::interpose {

class PythonLayout {
 public:
  // Whether there is a layout for this version at all.
  static bool supports(const PythonApi& python);
  // Compares the two ways to read the stack of this thread, which holds the lock and runs a
  // function of Python. Empty if they do not agree, or the version is another one.
  static std::optional<PythonLayout> find(const PythonApi& python);

  struct Line {
    PyObject code = nullptr, file = nullptr, function = nullptr;
    int line = 0;
  };
  // Calls `visit(line)` from the innermost frame on, until it returns false. The thread may or may
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
  // Of a string, as UTF-8: as many characters of its beginning or its end as `room` has place for.
  // "" if one of these is a control character.
  enum class Part : std::uint8_t { beginning, end };
  std::string_view text_of(PyObject string, Part part, std::span<char> room) const;
  // A number made of its length and its last characters.
  std::uint64_t end_of(PyObject string) const;

 private:
  static constexpr int kMostDepth = 256;
  struct Version {
    unsigned major_minor;
    std::size_t thread_to_frame;
    std::optional<std::size_t> then;  // thread_to_frame is of a structure that has the frame there
    std::size_t code, previous, instruction;
  };
  static const Version kVersions[];
  static const Version* version_of(const PythonApi& python);

  PythonLayout(const PythonApi& python, const Version& version)
      : python_(&python), version_(&version) {}
  const char* innermost(PyThread thread) const;
  const char* previous(const char* frame) const;
  // Null for frames of the interpreter itself, and of code that is just being freed.
  PyObject code_of(const char* frame) const;
  int line_of(const char* frame, PyObject code) const;
  static PyObject object_at(PyObject in, std::size_t offset);
  bool agrees(PyObject frame);
  bool find_names(PyObject code);

  const PythonApi* python_;
  const Version* version_;
  std::size_t bytes_ = 0;                // of a code object before its instructions
  std::size_t file_ = 0, function_ = 0;  // of a code object
};

}  // namespace redzone::interpose
