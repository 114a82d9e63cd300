#include "interpose/python_stack.h"

#include <atomic>
#include <cstddef>
#include <new>

#include "interpose/internal_scope.h"
#include "interpose/python_layout.h"

namespace redzone::interpose {
namespace {

// A line that has been numbered. Another code object may get the address of a freed one, so the
// entry also compares the file and function names and, if the name objects are the same, hashes of
// their ends.
struct Known {
  const void* code = nullptr;
  int line = 0;
  PyObject file = nullptr, function = nullptr;
  std::uint64_t ends = 0, texts = 0;
  std::uint32_t number = 0;
};
constexpr std::size_t kKnown = 2 * kPythonLines;
// A thread may hold the lock at a place where its stack cannot be compared.
constexpr int kMostTries = 16;

constinit PythonApi python;
constinit bool is_python = false;
constinit std::atomic<const PythonLayout*> layout{nullptr};
alignas(PythonLayout) unsigned char layout_memory[sizeof(PythonLayout)];
constinit int tries = 0;
constinit Known known[kKnown];
constinit std::atomic_flag busy = ATOMIC_FLAG_INIT;  // protects the variables above

std::uint64_t hash_of(std::string_view file, std::string_view function) {
  constexpr std::uint64_t basis = 0xcbf29ce484222325, prime = 0x100000001b3;  // FNV-1a
  std::uint64_t out = basis;
  for (const std::string_view text : {file, function}) {
    for (const char c : text) out = (out ^ static_cast<unsigned char>(c)) * prime;
    out *= prime;  // separates the texts
  }
  return out;
}

std::uint32_t number_of(Recorder& recorder, const PythonLayout& how,
                        const PythonLayout::Line& line) {
  std::size_t at = reinterpret_cast<std::size_t>(line.code) / 16 * 31 +
                   static_cast<std::size_t>(static_cast<unsigned>(line.line));
  at %= kKnown;
  const std::uint64_t ends = how.end_of(line.file) * 31 + how.end_of(line.function);
  for (std::size_t i = at; known[i].number != 0; i = (i + 1) % kKnown)
    if (known[i].code == line.code && known[i].line == line.line && known[i].file == line.file &&
        known[i].function == line.function && known[i].ends == ends)
      return known[i].number;
  char file_room[sizeof(PythonLine::file) - 1], function_room[sizeof(PythonLine::function) - 1];
  const auto file = how.text_of(line.file, PythonLayout::Part::end, file_room);
  const auto function = how.text_of(line.function, PythonLayout::Part::beginning, function_room);
  const std::uint64_t texts = hash_of(file, function);
  // At most half of the table's places are used.
  for (; known[at].number != 0; at = (at + 1) % kKnown)
    if (known[at].code == line.code && known[at].line == line.line && known[at].texts == texts) {
      known[at].file = line.file, known[at].function = line.function, known[at].ends = ends;
      return known[at].number;
    }
  const std::uint32_t out =
      recorder.add_python_line(file, function, static_cast<std::uint32_t>(line.line));
  if (out != 0) known[at] = {line.code, line.line, line.file, line.function, ends, texts, out};
  return out;
}

bool is_running() {
  return is_python && python.is_initialized() != 0 && python.is_finalizing() == 0;
}

}  // namespace

void find_python(void* (*find)(const char* name)) {
  python = load_python(find);
  is_python = python.is_complete() && PythonLayout::supports(python);
}

void learn_python() {
  if (layout.load(std::memory_order_relaxed) != nullptr || !is_running() || !python.holds_lock() ||
      busy.test_and_set(std::memory_order_acquire))
    return;
  if (layout.load(std::memory_order_relaxed) == nullptr && tries < kMostTries) {
    const InternalScope scope;  // the interpreter's allocations are not the program's
    // A collection would run code of the program within the intercepted call.
    const bool collects = python.disable_collection() != 0;
    if (const auto found = PythonLayout::find(python))
      layout.store(new (layout_memory) PythonLayout(*found), std::memory_order_release);
    else if (python.frame() != nullptr)
      ++tries;
    if (collects) python.enable_collection();
  }
  busy.clear(std::memory_order_release);
}

void take_python_stack(Recorder& recorder, Frames& out) {
  out.python_count = 0;
  if (!is_running()) return;
  const PythonLayout* const how = layout.load(std::memory_order_acquire);
  const PyThread thread = how == nullptr ? nullptr : python.thread();
  if (thread == nullptr || busy.test_and_set(std::memory_order_acquire)) return;
  how->walk(thread, [&](const PythonLayout::Line& line) {
    if (const std::uint32_t number = number_of(recorder, *how, line); number != 0)
      out.python[out.python_count++] = number;
    return out.python_count < kPythonFrames;
  });
  busy.clear(std::memory_order_release);
}

}  // namespace redzone::interpose
