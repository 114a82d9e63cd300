#include "interpose/python_layout.h"

#include <cstring>

namespace redzone::interpose {
namespace {

constexpr std::size_t kObjectType = 8;
constexpr std::size_t kObjectHeader = 16;
constexpr std::size_t kMostCodeBytes = 512;
constexpr int kCompared = 8;  // frames

template <class T>
T read(const void* at, std::size_t offset) {
  T out;
  std::memcpy(&out, static_cast<const char*>(at) + offset, sizeof out);
  return out;
}

}  // namespace

// From the sources of each version (pycore_frame.h, cpython/pystate.h).
const PythonLayout::Version PythonLayout::kVersions[] = {
    {0x030b, 56, 8, 32, 48, 56},
    {0x030c, 56, 0, 0, 8, 56},
    {0x030d, 72, std::nullopt, 0, 8, 56},
};

PyObject PythonLayout::object_at(PyObject in, std::size_t offset) {
  return read<PyObject>(in, offset);
}

const char* PythonLayout::innermost(PyThread thread) const {
  const auto* const at = read<const char*>(thread, version_->thread_to_frame);
  return !version_->then || at == nullptr ? at : read<const char*>(at, *version_->then);
}

const char* PythonLayout::previous(const char* frame) const {
  return read<const char*>(frame, version_->previous);
}

PyObject PythonLayout::code_of(const char* frame) const {
  const auto code = read<PyObject>(frame, version_->code);
  if (code == nullptr || read<const void*>(code, kObjectType) != python_->code_type) return nullptr;
  // Where C calls Python, 3.12 has a frame whose code is no function of the program.
  return file_ != 0 && text_of(object_at(code, file_)) == "<shim>" ? nullptr : code;
}

int PythonLayout::line_of(const char* frame, PyObject code) const {
  const auto* const at = read<const char*>(frame, version_->instruction);
  return python_->line_of(code,
                          static_cast<int>(at - (reinterpret_cast<const char*>(code) + bytes_)));
}

std::string_view PythonLayout::text_of(PyObject string) const {
  const auto length = static_cast<std::size_t>(python_->length(string));
  const char* const text = reinterpret_cast<const char*>(string) + text_;
  for (std::size_t i = 0; i < length; ++i)
    if (text[i] < ' ' || text[i] > '~') return {};
  return text[length] == '\0' ? std::string_view(text, length) : std::string_view();
}

// The attributes of a code object are the objects that it holds.
bool PythonLayout::find_names(PyObject code) {
  const PyObject file = python_->attribute(code, "co_filename");
  const PyObject function = python_->attribute(code, "co_qualname");
  if (file != nullptr && function != nullptr) {
    for (std::size_t at = kObjectHeader; at + sizeof(void*) <= bytes_; at += sizeof(void*)) {
      if (file_ == 0 && object_at(code, at) == file) file_ = at;
      if (object_at(code, at) == function) function_ = at;  // behind co_name, which may be the same
    }
    std::ptrdiff_t length = 0;
    if (const char* const text = python_->text(file, &length))
      text_ = static_cast<std::size_t>(text - reinterpret_cast<const char*>(file));
  }
  const bool found = file_ != 0 && function_ != 0 && text_ >= kObjectHeader &&
                     text_ <= kMostCodeBytes && !text_of(file).empty();
  if (file != nullptr) python_->release(file);
  if (function != nullptr) python_->release(function);
  if (python_->error() != nullptr) python_->clear_error();
  return found;
}

// Compares the frames from this one on, which is released, with those that are read.
bool PythonLayout::agrees(PyObject frame) {
  const char* own = innermost(python_->thread());
  int compared = 0;
  bool same = true;
  while (same && frame != nullptr && compared < kCompared) {
    const PyObject code = python_->frame_code(frame);
    while (own != nullptr && read<PyObject>(own, version_->code) != code) own = previous(own);
    same = own != nullptr && code_of(own) == code;
    if (same) {
      const auto first = read<std::uintptr_t>(own, version_->instruction) -
                         static_cast<std::uintptr_t>(python_->frame_last(frame)) -
                         reinterpret_cast<std::uintptr_t>(code);
      if (bytes_ == 0) bytes_ = first;
      same = first == bytes_ && first > kObjectHeader && first < kMostCodeBytes &&
             (file_ != 0 || find_names(code));
      own = previous(own);
      ++compared;
    }
    if (code != nullptr) python_->release(code);
    const PyObject back = python_->frame_back(frame);
    python_->release(frame);
    frame = back;
  }
  if (frame != nullptr) python_->release(frame);
  return same && compared != 0;
}

std::optional<PythonLayout> PythonLayout::find(const PythonApi& python) {
  const PyObject frame = python.frame();
  if (frame == nullptr || python.error() != nullptr) return std::nullopt;
  for (const Version& version : kVersions)
    if (*python.version >> 16 == version.major_minor) {
      PythonLayout out(python, version);
      python.retain(frame);
      if (out.agrees(frame)) return out;
    }
  return std::nullopt;
}

}  // namespace redzone::interpose
