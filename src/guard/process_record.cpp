#include "guard/process_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/read_file.h"
#include "guard/names.h"
#include "interpose/origin_file.h"
#include "sanitizer/cuda_gdb.h"

namespace redzone::guard {
namespace {

using interpose::FindingRecord;
using interpose::Frames;
using interpose::Record;

std::string fixed_text(const char* text, std::size_t most) {
  return {text, ::strnlen(text, most)};
}

std::vector<Frame> frames_of(const Frames& frames, const Symbols& symbols) {
  std::vector<Frame> out;
  const std::size_t count = std::min<std::size_t>(frames.count, interpose::kFrames);
  for (std::size_t i = 0; i < count; ++i) out.push_back(symbols.at(frames.addresses[i]));
  return out;
}

// An access farther than this from each block is attributed to none.
constexpr std::uint64_t kNeighbourBytes = std::uint64_t{64} << 20;

std::vector<PythonFrame> lines_of(const Frames& frames, const std::vector<PythonFrame>& lines) {
  std::vector<PythonFrame> out;
  const std::size_t count = std::min<std::size_t>(frames.python_count, interpose::kPythonFrames);
  for (std::size_t i = 0; i < count; ++i)
    if (const std::uint32_t n = frames.python[i]; n != 0 && n <= lines.size())
      out.push_back(lines[n - 1]);
  return out;
}

template <NamedEnum E>
bool is_named(E value) {
  return static_cast<std::size_t>(value) < kEnumTable<E>.names.size();
}

bool makes_sense(const FindingRecord& f) {
  return f.state.load() == interpose::FindingState::complete && is_named(f.kind) &&
         is_named(f.access) && is_named(f.side);
}

Finding finding_of(const FindingRecord& f, const Symbols& symbols,
                   const std::vector<PythonFrame>& lines) {
  Finding out;
  out.times = 1 + f.repeats.load();
  out.kind = f.kind;
  out.access = f.access;
  out.side = f.side;
  out.on_device = f.on_device != 0;
  out.code = f.code;
  out.address = f.address;
  out.distance_bytes = f.distance_bytes;
  out.wrong_bytes = f.wrong_bytes;
  out.block = {f.block_address, f.block_bytes, f.block_ordinal, f.block_freed != 0};
  out.call = fixed_text(f.call, interpose::kCallBytes);
  out.thread = f.thread;
  out.where = frames_of(f.where, symbols);
  out.allocated = frames_of(f.allocated, symbols);
  out.freed = frames_of(f.freed, symbols);
  out.python_where = lines_of(f.where, lines);
  out.python_allocated = lines_of(f.allocated, lines);
  out.python_freed = lines_of(f.freed, lines);
  if (f.launch.ordinal != 0) {
    out.launch = launch_of(f.launch);
    out.launches_since_right = f.launches_since_right;
  }
  return out;
}

template <class Findings>
auto first_error_of(Findings& findings) {
  return std::find_if(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.kind == FindingKind::device_error;
  });
}

std::string only_kernel_of(const ProcessRecord& process) {
  std::string out;
  for (const KernelLaunch& launch : process.unfinished) {
    const std::string name(sanitizer::bare_kernel(launch.kernel));
    if (name.empty() || (!out.empty() && name != out)) return "";
    out = name;
  }
  return process.unfinished_lost == 0 ? out : "";
}

std::string mappings_beside(const std::filesystem::path& record) {
  auto beside = record;
  const auto text = read_file(beside.replace_extension(interpose::kMapsSuffix));
  return text ? *text : "";
}

}  // namespace

const Finding* ProcessRecord::first_error() const {
  const auto found = first_error_of(findings);
  return found == findings.end() ? nullptr : &*found;
}

std::uint64_t ProcessRecord::times_found() const {
  std::uint64_t out = 0;
  for (const auto& finding : findings) out += finding.times;
  return out;
}

Result<ProcessRecord> parse_process_record(std::string_view bytes, std::string_view mappings) {
  const auto record = std::make_unique<Record>();
  if (bytes.size() != sizeof(Record))
    return harness_error(fmt::format("{} bytes instead of {}", bytes.size(), sizeof(Record)));
  std::memcpy(static_cast<void*>(record.get()), bytes.data(), sizeof(Record));
  if (record->magic != interpose::kRecordMagic || record->layout_bytes != sizeof(Record))
    return harness_error("not a record of a guarded process");
  ProcessRecord out;
  out.pid = record->pid;
  out.parent = record->parent;
  out.program = fixed_text(record->program, sizeof record->program);
  for (std::size_t i = 0; i < interpose::kFacts; ++i) out.facts[i] = record->facts[i].load() != 0;
  for (std::size_t i = 0; i < interpose::kCounters; ++i)
    out.counters[i] = record->counters[i].load();
  const auto lines = std::min<std::size_t>(record->python_count.load(), interpose::kPythonLines);
  for (std::size_t i = 0; i < lines; ++i) {
    const auto& line = record->python[i];
    out.python.push_back({fixed_text(line.file, sizeof line.file),
                          fixed_text(line.function, sizeof line.function), line.line});
  }
  const Symbols symbols(mappings);
  for (const auto& finding : record->findings)
    if (makes_sense(finding)) out.findings.push_back(finding_of(finding, symbols, out.python));
  for (const auto& launch : record->launches)
    if (launch.ordinal != 0) out.launches.push_back(launch_of(launch));
  std::sort(out.launches.begin(), out.launches.end(),
            [](const KernelLaunch& a, const KernelLaunch& b) { return a.ordinal > b.ordinal; });
  const auto unfinished =
      std::min<std::size_t>(record->unfinished_count.load(), interpose::kLaunchesKept);
  for (std::size_t i = 0; i < unfinished; ++i)
    out.unfinished.push_back(launch_of(record->unfinished[i]));
  out.unfinished_lost = record->unfinished_lost.load();
  if (const auto error = first_error_of(out.findings); error != out.findings.end())
    error->only_kernel = only_kernel_of(out);
  return out;
}

Result<ProcessRecord> read_process_record(const std::filesystem::path& file) {
  RZ_TRY_ASSIGN(const std::string bytes, read_file(file));
  // Only a process with a finding has stored its mappings.
  auto out = parse_process_record(bytes, mappings_beside(file));
  if (!out) return harness_error(fmt::format("{}: {}", file.string(), out.error().message));
  out->file = file;
  auto beside = file;
  if (const auto started = read_file(beside.replace_extension(interpose::kOriginSuffix)))
    out->started = parse_started(*started);
  return out;
}

std::optional<Neighbour> neighbour_of(const ProcessRecord& process, std::uint64_t address) {
  auto beside = process.file;
  const auto bytes = read_file(beside.replace_extension(interpose::kBlocksSuffix));
  if (!bytes) return std::nullopt;
  std::optional<interpose::BlockRecord> nearest;
  std::uint64_t least = kNeighbourBytes;
  for (std::size_t at = 0; bytes->size() - at >= sizeof(interpose::BlockRecord);
       at += sizeof(interpose::BlockRecord)) {
    interpose::BlockRecord one;
    std::memcpy(&one, bytes->data() + at, sizeof one);
    const std::uint64_t end = one.address + one.bytes;
    const std::uint64_t distance = address < one.address ? one.address - address
                                   : address < end       ? 0
                                                         : address - end + 1;
    // A live block is stored before a freed one at the same address.
    if (distance < least) nearest = one, least = distance;
  }
  if (!nearest) return std::nullopt;
  const Symbols symbols(mappings_beside(process.file));
  Neighbour out;
  out.block = {nearest->address, nearest->bytes, nearest->ordinal, nearest->freed != 0};
  out.side = least == 0 ? Side::inside : address < nearest->address ? Side::before : Side::after;
  out.distance_bytes = least;
  out.allocated = frames_of(nearest->allocated, symbols);
  out.freed = frames_of(nearest->freed_by, symbols);
  out.python_allocated = lines_of(nearest->allocated, process.python);
  out.python_freed = lines_of(nearest->freed_by, process.python);
  return out;
}

std::vector<ProcessRecord> read_process_records(const std::filesystem::path& folder,
                                                std::size_t& unreadable) {
  std::vector<std::filesystem::path> files;
  std::error_code ignored;  // an error gives an empty list as well
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
    if (entry.path().extension() == interpose::kRecordSuffix) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<ProcessRecord> out;
  unreadable = 0;
  for (const auto& file : files) {
    if (auto record = read_process_record(file))
      out.push_back(*std::move(record));
    else
      ++unreadable;
  }
  return out;
}

}  // namespace redzone::guard
