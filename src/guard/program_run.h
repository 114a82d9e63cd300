// One run of a program under the guard, as its processes have recorded it: which of them were
// judged, and what was found. Pure, apart from reading the records.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/enum_names.h"
#include "guard/process_record.h"
#include "guard/program.h"

namespace redzone::guard {

// Whether a process was guarded, so that no finding means something.
enum class Judged : std::uint8_t {
  yes,
  nothing_to_guard,  // it did not load the driver, and nothing else was to be guarded
  no_allocation,     // the driver was there, but no allocation came through the guard
  not_proven,        // the guard's own allocations did not come through
  not_replaced,      // PyTorch was to allocate through the guard's functions, and did not
};

constexpr auto enum_table(Judged) {
  return enum_names<Judged>("state of a process", {{Judged::yes, "judged"},
                                                   {Judged::nothing_to_guard, "nothing to guard"},
                                                   {Judged::no_allocation, "no allocation seen"},
                                                   {Judged::not_proven, "not proven"},
                                                   {Judged::not_replaced, "not replaced"}});
}

// PyTorch's part for CUDA was loaded, and the settings have its hook, but it has not allocated
// through the guard.
bool torch_was_not_replaced(const ProcessRecord& process, const interpose::Settings& settings);

Judged judged(const ProcessRecord& process, const interpose::Settings& settings);

// What makes two findings of a run one: the program of the process (core/program_origin.h) and the
// signature.
std::string key_of(const ProcessRecord& process, const Finding& finding);

// Findings with one key: the first of them, and how many there were.
struct DistinctFinding {
  Finding first;
  std::uint32_t pid = 0;  // of the process with the first
  std::uint64_t times = 0;
  std::size_t process = 0;  // its index in the run
  std::string key = {};
  std::size_t in_processes = 0;  // that have one
};

// Where the program allocated the block (stacks.h): "make_buffer (train) from load (train)", with
// two callers at most; "" if that is not known.
std::string allocation_site(const Finding& finding);

// Of an error of the device: the kernel behind it; "" if that is not known.
const std::string& kernel_of(const Finding& finding);

// "guard-page: write in fill (train) after a block, allocated in make_buffer (train) from main
// (train)": what makes two findings the same, and what a mark is about: one kind of mistake, of one
// kernel or in one function, at blocks that one place allocates. No address, size, process or
// thread is part of it.
std::string signature(const Finding& finding);

struct ProgramRun {
  Started started;  // no arguments: its processes were attached, and nothing is known of it
  interpose::Settings settings;
  Ended ended;
  std::vector<ProcessRecord> processes;
  std::size_t unreadable = 0;  // records that could not be read
  std::string foreign_preload;
  std::string framework;  // what was picked for one (framework.h); "" if nothing was
  // Of a folder of attached processes, whose records are read each time that it is collected: its
  // name in each store. "" for a run of a program.
  std::string folder_uid;

  std::vector<DistinctFinding> findings() const;
  // Sum over all processes.
  std::uint64_t count(Counter counter) const;
  std::size_t count(Judged state) const;
  // Processes with something to guard: those for which no finding could say something.
  std::size_t to_guard() const;
  // Of those, the ones for which it says nothing.
  std::size_t not_judged() const;
  // The settings leave out blocks, and so no block at all was guarded.
  bool guards_nothing() const;
  // At least one process was judged, and a block was guarded where the settings leave some out.
  bool is_judged() const;
  // Of the command: `finding_code` for a finding whose key is not `suppressed`, or of which no
  // record has room, 124 if the program was ended because its time was over, 125 if nothing was
  // judged, else the program's own.
  int exit_code(int finding_code, const std::set<std::string>& suppressed = {}) const;
};

}  // namespace redzone::guard
