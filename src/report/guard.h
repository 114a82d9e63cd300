// What `redzone guard` prints about a run of a program. Pure: values in, text out.
//
//   JSON     {"argv", "exit_code", "signal": number or null, "over_time": bool: it was ended
//            because its time was over, "guard_exit_code", "judged": bool, "processes_to_guard":
//            number, "processes_not_judged": number,
//            "settings": {"driver", "cpu", "placement", "align", "poison": number or null,
//            "retire", "bare": bool, "launch", "seed", "check", "on_error", "max_memory",
//            "min_bytes", "kernels", "only", "skip": [first, last] or null}, "findings": [FINDING],
//            "processes": [PROCESS], "counters": {name: number}, "left_out": {name: {"times",
//            "meaning"}}, "framework", "foreign_preload", "unreadable_records", "stored", "runs"}
//            (guard_stored.h); without argv, for processes that were attached, "exit_code" and
//            "signal" are null
//   FINDING  {"signature", "kind", "memory": "device"|"host", "access", "side", "distance", "code",
//            "address", "wrong_bytes", "call", "pid", "thread", "times", "block", "kernel",
//            "exception", "location", "instruction": "" without a core dump of the driver,
//            "launch", "launches_since_right", "where", "allocated", "freed": [FRAME],
//            "python_where", "python_allocated", "python_freed": [{"file", "line", "function"}]};
//            blocks and launches are in guard_launches.h
//   FRAME    {"address", "module", "offset", "function"}; "" for what is not known
//   PROCESS  {"pid", "parent", "program", "state", "ended": bool, "findings": number,
//            "launches": the last ones, newest first, of a process with a finding, or that has not
//            ended by itself, "unfinished": those that were not known to have completed at the
//            first error of a device, "unfinished_lost": how many more there may have been,
//            "counters", "left_out"}
//
// The text leaves out frames inside the CUDA runtime (guard/stacks.h), JSON has all.
//
// Addresses and offsets are text in base 16. `max_memory` 0: half of the device's. Processes to
// guard are those with a driver, or with `cpu` all.
#pragma once

#include <cstdint>
#include <string>

#include "guard/program_run.h"
#include "report/guard_stored.h"

namespace redzone::report {

// Selects the notes of guard_text(). Its `exit_code` is that of the command; the last line has it,
// the program's own exit code, and the number of processes that were not judged.
enum class Notes : std::uint8_t {
  telling,  // notes about this program only
  all,      // also the general limits for programs with the CUDA runtime, which JSON has as
            // counters
};
std::string guard_text(const guard::ProgramRun& run, int exit_code, Notes notes = Notes::telling,
                       const GuardStored& stored = {});
std::string guard_json(const guard::ProgramRun& run, int exit_code, const GuardStored& stored = {});

}  // namespace redzone::report
