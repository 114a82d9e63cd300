#include "interpose/python_layout.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace redzone::interpose {
namespace {

constexpr std::size_t kObjectReferences = 0;
constexpr std::size_t kObjectType = 8;
constexpr std::size_t kObjectHeader = 16;
constexpr std::size_t kMostCodeBytes = 512;
constexpr int kCompared = 8;  // frames
constexpr std::string_view kShim = "<shim>";

template <class T>
T read(const void* at, std::size_t offset) {
  T out;
  std::memcpy(&out, static_cast<const char*>(at) + offset, sizeof out);
  return out;
}

constexpr bool is_control(unsigned character) {
  return character < ' ' || (character >= 0x7f && character < 0xa0);
}

// Surrogates stand for bytes of a path that are not valid text.
constexpr unsigned as_text(unsigned character) {
  constexpr unsigned replacement = 0xfffd;
  return character >= 0xd800 && character < 0xe000 ? replacement : character;
}

constexpr std::size_t utf8_bytes(unsigned character) {
  return character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
}

void append_utf8(unsigned character, std::size_t bytes, char* to) {
  constexpr unsigned leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (std::size_t i = bytes; --i > 0; character >>= 6)
    to[i] = static_cast<char>(0x80 | (character & 0x3f));
  to[0] = static_cast<char>(leads[bytes] | character);
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
  // The last frame of a code object may be in the middle of freeing the code object and its
  // members.
  if (read<std::intptr_t>(code, kObjectReferences) == 0) return nullptr;
  if (file_ == 0) return code;
  // If C calls Python, 3.12 adds a frame whose code is no function of the program.
  char room[kShim.size() + 1];
  return text_of(object_at(code, file_), Part::beginning, room) == kShim ? nullptr : code;
}

int PythonLayout::line_of(const char* frame, PyObject code) const {
  const auto* const at = read<const char*>(frame, version_->instruction);
  return python_->line_of(code,
                          static_cast<int>(at - (reinterpret_cast<const char*>(code) + bytes_)));
}

std::string_view PythonLayout::text_of(PyObject string, Part part, std::span<char> room) const {
  const auto length = python_->length(string);
  const auto at = [&](std::ptrdiff_t i) { return as_text(python_->character(string, i)); };
  std::ptrdiff_t i = 0;
  if (part == Part::end) {
    std::size_t bytes = 0;
    for (i = length; i > 0 && (bytes += utf8_bytes(at(i - 1))) <= room.size();) --i;
  }
  std::size_t used = 0;
  for (; i < length; ++i) {
    const unsigned character = at(i);
    const std::size_t bytes = utf8_bytes(character);
    if (is_control(character)) return {};
    if (used + bytes > room.size()) break;
    append_utf8(character, bytes, room.data() + used);
    used += bytes;
  }
  return {room.data(), used};
}

std::uint64_t PythonLayout::end_of(PyObject string) const {
  constexpr std::ptrdiff_t characters = 8;
  constexpr std::uint64_t factor = 131;
  const std::ptrdiff_t length = python_->length(string);
  auto out = static_cast<std::uint64_t>(length);
  for (std::ptrdiff_t i = std::max<std::ptrdiff_t>(0, length - characters); i < length; ++i)
    out = out * factor + as_text(python_->character(string, i));
  return out;
}

// The attributes of a code object are the same objects that its fields refer to.
bool PythonLayout::find_names(PyObject code) {
  const PyObject file = python_->attribute(code, "co_filename");
  const PyObject function = python_->attribute(code, "co_qualname");
  if (file != nullptr && function != nullptr) {
    for (std::size_t at = kObjectHeader; at + sizeof(void*) <= bytes_; at += sizeof(void*)) {
      if (file_ == 0 && object_at(code, at) == file) file_ = at;
      // follows co_name, which may be the same object
      if (object_at(code, at) == function) function_ = at;
    }
  }
  const bool found = file_ != 0 && function_ != 0;
  if (file != nullptr) python_->release(file);
  if (function != nullptr) python_->release(function);
  if (python_->error() != nullptr) python_->clear_error();
  return found;
}

// Compares the frames from `frame` on with those read by offsets. Releases `frame`.
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

const PythonLayout::Version* PythonLayout::version_of(const PythonApi& python) {
  const auto* const found = std::find_if(
      std::begin(kVersions), std::end(kVersions),
      [&](const Version& version) { return *python.version >> 16 == version.major_minor; });
  return found == std::end(kVersions) ? nullptr : found;
}

bool PythonLayout::supports(const PythonApi& python) {
  return version_of(python) != nullptr;
}

std::optional<PythonLayout> PythonLayout::find(const PythonApi& python) {
  const Version* const version = version_of(python);
  const PyObject frame = version == nullptr ? nullptr : python.frame();
  if (frame == nullptr || python.error() != nullptr) return std::nullopt;
  PythonLayout out(python, *version);
  python.retain(frame);
  if (out.agrees(frame)) return out;
  return std::nullopt;
}

}  // namespace redzone::interpose
