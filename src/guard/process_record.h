// Reads and validates what a guarded process has recorded in its folder: the process may have been
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
  std::uint64_t times = 1;  // number of occurrences that reports cannot distinguish
  FindingKind kind = FindingKind::guard_page;
  Access access = Access::unknown;
  Side side = Side::none;
  bool on_device = false;
  int code = 0;  // the driver's error, or the signal number
  std::uint64_t address = 0, distance_bytes = 0, wrong_bytes = 0;
  Block block;       // ordinal 0: unknown block
  std::string call;  // "" if no function reported it
  std::uint32_t thread = 0;
  std::vector<Frame> where, allocated, freed;  // innermost first
  // The corresponding stacks of the Python interpreter, if the thread ran Python code.
  std::vector<PythonFrame> python_where, python_allocated, python_freed;
  // With a check after each launch: the first launch after which the canary was wrong, and the
  // number of launches since all canaries had been right. With a core dump: the launch of the
  // kernel that it names, if exactly one launch that may have run has that name.
  KernelLaunch launch;
  std::uint64_t launches_since_right = 0;
  // From the core dump of a device error (core_dump.h); "" without one.
  std::string kernel, exception, location, instruction;
  // For the first device error: the kernel of all launches that may have caused it; "" if they have
  // several kernels, or not all are known.
  std::string only_kernel;
};

struct ProcessRecord {
  std::uint32_t pid = 0, parent = 0;
  std::string program;
  std::array<bool, interpose::kFacts> facts{};
  std::array<std::uint64_t, interpose::kCounters> counters{};
  std::vector<Finding> findings;
  std::vector<KernelLaunch> launches;  // the last ones, newest first
  // Launches not known to have completed at the first device error, newest first.
  std::vector<KernelLaunch> unfinished;
  // Upper bound of the number of further such launches, of which nothing else is known
  std::uint64_t unfinished_lost = 0;
  std::vector<PythonFrame> python;  // lines of the stacks, numbered as in Frames::python
  std::filesystem::path file;       // set by read_process_record()
  Started started;                  // recorded by the process itself

  // Number of findings, repeats included.
  std::uint64_t times_found() const;
  // The command line; only the path of the program if it is unknown.
  std::vector<std::string> command() const {
    return started.argv.empty() ? std::vector<std::string>{program} : started.argv;
  }
  // The first device error, to which `unfinished` belongs; null if there is none.
  const Finding* first_error() const;
  bool is(Fact fact) const { return facts[static_cast<std::size_t>(fact)]; }
  std::uint64_t count(Counter counter) const { return counters[static_cast<std::size_t>(counter)]; }
};

// Parses one record from the bytes of its file and the mappings of its process; an error if it is
// not a record of this build. Incomplete findings and findings with invalid values are skipped.
Result<ProcessRecord> parse_process_record(std::string_view bytes, std::string_view mappings);
Result<ProcessRecord> read_process_record(const std::filesystem::path& file);

// The position of a device address relative to a block that the process had at its first error.
struct Neighbour {
  Block block;
  Side side = Side::none;
  std::uint64_t distance_bytes = 0;
  std::vector<Frame> allocated, freed;
  std::vector<PythonFrame> python_allocated, python_freed;
};
// Finds the nearest block; nullopt if there is none within 64 MiB.
std::optional<Neighbour> neighbour_of(const ProcessRecord& process, std::uint64_t address);

// Reads all records of a folder, in the order of their names. Records that cannot be read are
// skipped and counted in `unreadable`.
std::vector<ProcessRecord> read_process_records(const std::filesystem::path& folder,
                                                std::size_t& unreadable);

}  // namespace redzone::guard
