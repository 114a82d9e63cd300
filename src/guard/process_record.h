// What one guarded process has left in its folder, read back and checked: the process may have been
// killed at any moment, and its memory may be damaged.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "guard/launch.h"
#include "guard/started.h"
#include "guard/symbols.h"
#include "interpose/record.h"

namespace redzone::guard {

using interpose::Access;
using interpose::Counter;
using interpose::Fact;
using interpose::FindingKind;
using interpose::Side;

// A line of a Python program.
struct PythonFrame {
  std::string file, function;
  std::uint32_t line = 0;
};

struct Finding {
  std::uint64_t times = 1;  // how often the process made it, as far as reports can tell
  FindingKind kind = FindingKind::guard_page;
  Access access = Access::unknown;
  Side side = Side::none;
  bool on_device = false;
  int code = 0;  // the driver's, or the number of the signal
  std::uint64_t address = 0, distance_bytes = 0, wrong_bytes = 0;
  Block block;       // ordinal 0: no block is known
  std::string call;  // "" if no function reported it
  std::uint32_t thread = 0;
  std::vector<Frame> where, allocated, freed;  // innermost first
  // The same of a Python interpreter, where the thread held its lock.
  std::vector<PythonFrame> python_where, python_allocated, python_freed;
  // With a check after each launch: the first after which the canary was wrong, and how many there
  // were since all canaries had been right. Of a core dump: of the kernel that it names, if exactly
  // one of those that may have run is of that name.
  KernelLaunch launch;
  std::uint64_t launches_since_right = 0;
  // Of an error of the device, if there is a core dump (core_dump.h); "" if not.
  std::string kernel, exception, location, instruction;
  // Of the first error of a device: the kernel that all launches which may have made it are of; ""
  // if they are of several, or not all are known.
  std::string only_kernel;
};

struct ProcessRecord {
  std::uint32_t pid = 0, parent = 0;
  std::string program;
  std::array<bool, interpose::kFacts> facts{};
  std::array<std::uint64_t, interpose::kCounters> counters{};
  std::vector<Finding> findings;
  std::vector<KernelLaunch> launches;  // the last ones, newest first
  // Those that were not known to have completed at the first error of a device, newest first.
  std::vector<KernelLaunch> unfinished;
  std::uint64_t unfinished_lost = 0;  // and as many more, at most, of which nothing else is known
  std::vector<PythonFrame> python;    // those that stacks of blocks name, by Frames::python
  std::filesystem::path file;         // of read_process_record()
  Started started;                    // by its own account

  // How often it made one of them.
  std::uint64_t times_found() const;
  // As it was started; its file alone if that is not known.
  std::vector<std::string> command() const {
    return started.argv.empty() ? std::vector<std::string>{program} : started.argv;
  }
  // The first error of a device, which `unfinished` is of; null if there is none.
  const Finding* first_error() const;
  bool is(Fact fact) const { return facts[static_cast<std::size_t>(fact)]; }
  std::uint64_t count(Counter counter) const { return counters[static_cast<std::size_t>(counter)]; }
};

// One record, by the bytes of its file and the mappings of its process; an error if it is none of
// this build. Findings that are not complete, or whose values make no sense, are left out.
Result<ProcessRecord> parse_process_record(std::string_view bytes, std::string_view mappings);
Result<ProcessRecord> read_process_record(const std::filesystem::path& file);

// Where an address of a device lies among the blocks that the process had at its first error.
struct Neighbour {
  Block block;
  Side side = Side::none;
  std::uint64_t distance_bytes = 0;
  std::vector<Frame> allocated, freed;
  std::vector<PythonFrame> python_allocated, python_freed;
};
// The nearest block; empty if there is none within 64 MiB.
std::optional<Neighbour> neighbour_of(const ProcessRecord& process, std::uint64_t address);

// All records of a folder, in the order of their names. Those that cannot be read are left out, and
// counted in `unreadable`.
std::vector<ProcessRecord> read_process_records(const std::filesystem::path& folder,
                                                std::size_t& unreadable);

}  // namespace redzone::guard
