#include "interpose/recorder.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>

#include "interpose/file_limit.h"
#include "interpose/origin_file.h"
#include "interpose/python_places.h"

namespace redzone::interpose {
namespace {

// Appends to a zero-terminated buffer; truncates the text if it does not fit.
void append(char* buffer, std::size_t bytes, std::string_view text) {
  const std::size_t used = std::strlen(buffer);
  const std::size_t n = text.size() < bytes - 1 - used ? text.size() : bytes - 1 - used;
  std::memcpy(buffer + used, text.data(), n);
  buffer[used + n] = '\0';
}

void append_number(char* buffer, std::size_t bytes, std::uint64_t number) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  append(buffer, bytes, {digits, static_cast<std::size_t>(end - digits)});
}

bool is_same(const Frames& a, const Frames& b) {
  return std::equal(a.addresses, a.addresses + a.count, b.addresses, b.addresses + b.count) &&
         std::equal(a.python, a.python + a.python_count, b.python, b.python + b.python_count);
}

// True if reports cannot distinguish the findings, except by block and time: all parts of a
// signature (guard/program_run.h) are the same, and either both or neither name a launch.
bool is_of_same_place(const FindingRecord& a, const FindingRecord& b) {
  return a.kind == b.kind && a.access == b.access && a.side == b.side &&
         a.on_device == b.on_device && a.code == b.code && a.block_freed == b.block_freed &&
         (a.block_ordinal == 0) == (b.block_ordinal == 0) &&
         (a.launch.ordinal == 0) == (b.launch.ordinal == 0) &&
         std::memcmp(a.call, b.call, sizeof a.call) == 0 && is_same(a.where, b.where) &&
         is_same(a.allocated, b.allocated);
}

}  // namespace

bool Recorder::open(const char* folder) {
  if (std::strlen(folder) >= sizeof folder_) return false;
  const FileLimitAsError limit;
  std::strcpy(folder_, folder);
  int fd = -1;
  char file[sizeof stem_ + kRecordSuffix.size()] = {};
  // Programs that a process runs one after another (exec) share its pid.
  for (std::uint64_t n = 0; fd < 0; ++n) {
    stem_[0] = '\0';
    append(stem_, sizeof stem_, folder_);
    append(stem_, sizeof stem_, "/");
    append_number(stem_, sizeof stem_, static_cast<std::uint64_t>(::getpid()));
    append(stem_, sizeof stem_, ".");
    append_number(stem_, sizeof stem_, n);
    file[0] = '\0';
    append(file, sizeof file, stem_);
    append(file, sizeof file, kRecordSuffix);
    fd = ::open(file, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0 && errno != EEXIST) return false;
  }
  void* mapped = MAP_FAILED;
  if (::ftruncate(fd, sizeof(Record)) == 0)
    mapped = ::mmap(nullptr, sizeof(Record), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  if (mapped == MAP_FAILED) return false;
  auto* record = static_cast<Record*>(mapped);  // pages are allocated at their first use
  record->layout_bytes = sizeof(Record);
  record->pid = static_cast<std::uint32_t>(::getpid());
  record->parent = static_cast<std::uint32_t>(::getppid());
  const auto n = ::readlink("/proc/self/exe", record->program, sizeof record->program - 1);
  record->program[n > 0 ? n : 0] = '\0';
  std::atomic_thread_fence(std::memory_order_release);
  record->magic = kRecordMagic;
  record_ = record;
  note(Fact::loaded);
  char origin[sizeof stem_ + kOriginSuffix.size()] = {};
  append(origin, sizeof origin, stem_);
  append(origin, sizeof origin, kOriginSuffix);
  write_origin_file(origin);
  return true;
}

void Recorder::reopen_after_fork() {
  if (record_ == nullptr) return;
  Record* const parents = record_;
  record_ = nullptr;
  if (open(folder_)) {
    // The child runs the same code, so the parent's proof holds for it. Stacks of inherited blocks
    // refer to the parent's Python lines.
    if (parents->facts[static_cast<std::size_t>(Fact::cpu_proven)].load() != 0)
      note(Fact::cpu_proven);
    const std::uint32_t lines = parents->python_count.load();
    std::memcpy(record_->python, parents->python, lines * sizeof(PythonLine));
    record_->python_count.store(lines);
  }
  ::munmap(static_cast<void*>(parents), sizeof(Record));
}

std::uint32_t Recorder::add_python_line(std::string_view file, std::string_view function,
                                        std::uint32_t line) {
  if (record_ == nullptr) return 0;
  const std::uint32_t n = record_->python_count.load();
  const std::size_t room =
      is_installed_python(file) ? kPythonLines - kOwnPythonLines : kPythonLines;
  if (n >= room) {
    count(Counter::lines_dropped);
    return 0;
  }
  PythonLine& to = record_->python[n];
  to.line = line;
  append(to.function, sizeof to.function, function);
  const std::size_t most = sizeof to.file - 1;
  append(to.file, sizeof to.file, file.size() > most ? file.substr(file.size() - most) : file);
  record_->python_count.store(n + 1, std::memory_order_release);
  return n + 1;
}

void Recorder::count(Counter counter, std::uint64_t n) {
  if (record_ != nullptr)
    record_->counters[static_cast<std::size_t>(counter)].fetch_add(n, std::memory_order_relaxed);
}

void Recorder::reset(Counter counter) {
  if (record_ != nullptr) record_->counters[static_cast<std::size_t>(counter)].store(0);
}

bool Recorder::is_of_this_process() const {
  return record_ != nullptr && record_->pid == static_cast<std::uint32_t>(::getpid());
}

std::uint64_t Recorder::counted(Counter counter) const {
  return record_ == nullptr ? 0 : record_->counters[static_cast<std::size_t>(counter)].load();
}

void Recorder::note(Fact fact) {
  if (record_ != nullptr) record_->facts[static_cast<std::size_t>(fact)].store(1);
}

bool Recorder::noted(Fact fact) const {
  return record_ != nullptr && record_->facts[static_cast<std::size_t>(fact)].load() != 0;
}

FindingRecord* Recorder::begin_finding(FindingKind kind) {
  if (record_ == nullptr) return nullptr;
  const std::size_t room =
      kind == FindingKind::device_error ? kMostFindings : kMostFindings - kKeptForErrors;
  for (std::size_t i = 0; i < room; ++i) {
    FindingRecord& finding = record_->findings[i];
    auto state = FindingState::free;
    if (!finding.state.compare_exchange_strong(state, FindingState::written,
                                               std::memory_order_acquire))
      continue;
    finding.kind = kind;
    finding.thread = static_cast<std::uint32_t>(::syscall(SYS_gettid));
    return &finding;
  }
  count(Counter::findings_dropped);
  return nullptr;
}

// Mark the finding as complete before saving the maps, which may fail: a handler's stack may be
// short.
void Recorder::publish(FindingRecord& finding) {
  for (FindingRecord& other : record_->findings) {
    if (other.state.load(std::memory_order_acquire) != FindingState::complete ||
        !is_of_same_place(other, finding))
      continue;
    other.repeats.fetch_add(1, std::memory_order_relaxed);
    // A free slot is all zero, as in a new file.
    constexpr std::size_t facts = offsetof(FindingRecord, kind);
    std::memset(reinterpret_cast<unsigned char*>(&finding) + facts, 0, sizeof finding - facts);
    finding.state.store(FindingState::free, std::memory_order_release);
    return;
  }
  finding.state.store(FindingState::complete, std::memory_order_release);
  int before = 0;
  // free() must not be a cancellation point, but the file operations below are.
  ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  save_maps();
  ::pthread_setcancelstate(before, nullptr);
}

LaunchRecord* Recorder::launches() {
  return record_ == nullptr ? nullptr : record_->launches;
}

LaunchRecord* Recorder::begin_unfinished() {
  if (record_ == nullptr || record_->unfinished_begun.exchange(1) != 0) return nullptr;
  return record_->unfinished;
}

void Recorder::publish_unfinished(std::size_t count, std::uint64_t lost) {
  record_->unfinished_lost.store(lost);
  record_->unfinished_count.store(static_cast<std::uint32_t>(count), std::memory_order_release);
}

int Recorder::create_beside(std::string_view suffix) const {
  if (record_ == nullptr) return -1;
  constexpr std::size_t most_suffix = 16;
  char file[sizeof stem_ + most_suffix] = {};
  append(file, sizeof file, stem_);
  append(file, sizeof file, suffix);
  return ::open(file, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
}

void Recorder::save_maps() const {
  const FileLimitAsError limit;
  const int from = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  const int to = create_beside(kMapsSuffix);
  char part[4096];
  for (ssize_t n = 0; from >= 0 && to >= 0 && (n = ::read(from, part, sizeof part)) > 0;)
    if (::write(to, part, static_cast<std::size_t>(n)) != n) break;
  if (from >= 0) ::close(from);
  if (to >= 0) ::close(to);
}

Recorder& recorder() {
  static constinit Recorder the_recorder;
  return the_recorder;
}

}  // namespace redzone::interpose
