// One run of a program under the guard, as its processes have recorded it: which of them were
// judged, and the findings. Pure, apart from reading the records.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/enum_names.h"
#include "guard/process_record.h"
#include "guard/program.h"

namespace redzone::guard {

// Whether a process was guarded, so that the absence of findings is meaningful.
enum class Judged : std::uint8_t {
  yes,
  nothing_to_guard,  // the driver was not loaded, and nothing else was to be guarded
  no_allocation,     // the driver was present, but no allocation passed through the guard
  not_proven,        // the guard's own allocations did not pass through it
  not_replaced,      // PyTorch should have allocated through the guard's functions, but did not
};

constexpr auto enum_table(Judged) {
  return enum_names<Judged>("state of a process", {{Judged::yes, "judged"},
                                                   {Judged::nothing_to_guard, "nothing to guard"},
                                                   {Judged::no_allocation, "no allocation seen"},
                                                   {Judged::not_proven, "not proven"},
                                                   {Judged::not_replaced, "not replaced"}});
}

// True if PyTorch's CUDA library was loaded and the settings include its hook, but PyTorch has not
// allocated through the guard.
bool torch_was_not_replaced(const ProcessRecord& process, const interpose::Settings& settings);

Judged judged(const ProcessRecord& process, const interpose::Settings& settings);

// Two findings of a run with the same key are the same finding. The key is the program of the
// process (core/program_origin.h) and the signature.
std::string key_of(const ProcessRecord& process, const Finding& finding);

// Findings with the same key: the first of them, and their number.
struct DistinctFinding {
  Finding first;
  std::uint32_t pid = 0;  // process of the first finding
  std::uint64_t times = 0;
  std::size_t process = 0;  // its index in the run
  std::string key = {};
  std::size_t in_processes = 0;  // number of processes with such a finding
};

// The place where the program allocated the block (stacks.h): "make_buffer (train) from load
// (train)", with two callers at most; "" if unknown.
std::string allocation_site(const Finding& finding);

// The kernel that caused a device error; "" if unknown.
const std::string& kernel_of(const Finding& finding);

// Identifies a finding, and what a mark covers, for example "guard-page: write in fill (train)
// after a block, allocated in make_buffer (train) from main (train)": one kind of mistake, of one
// kernel or in one function, at blocks that one place allocates. Contains no address, size, process
// or thread.
std::string signature(const Finding& finding);

struct ProgramRun {
  Started started;  // no arguments if the processes were attached and the start is unknown
  interpose::Settings settings;
  Ended ended;
  std::vector<ProcessRecord> processes;
  std::size_t unreadable = 0;  // records that could not be read
  std::string foreign_preload;
  std::string framework;  // what was set for a framework (framework.h); "" if nothing was
  // Identifies a folder of attached processes in each store, because its records are read again at
  // each collection. "" for a run of a program.
  std::string folder_uid;

  std::vector<DistinctFinding> findings() const;
  // Sums over all processes.
  std::uint64_t count(Counter counter) const;
  std::size_t count(Judged state) const;
  // Number of processes with something to guard, for which the absence of findings can be
  // meaningful.
  std::size_t to_guard() const;
  // Number of those for which it is not meaningful.
  std::size_t not_judged() const;
  // True if the settings exclude blocks and no block at all was guarded.
  bool guards_nothing() const;
  // True if at least one process was judged and, if the settings exclude blocks, a block was
  // guarded.
  bool is_judged() const;
  // The exit code of the command: `finding_code` for a finding whose key is not in `suppressed`, or
  // for dropped findings; 124 if the program exceeded its time limit; 125 if nothing was judged;
  // else the program's exit code.
  int exit_code(int finding_code, const std::set<std::string>& suppressed = {}) const;
};

}  // namespace redzone::guard
