// Exports a finding as one CUDA C++ file that reproduces its failure without Redzone: the target's
// source, the required part of Redzone's headers, and the calls of the plan as data. Built with
// nvcc alone.
//
// Exports failures that show without an oracle: a device error, a hang, a write around a buffer or
// to an input; and, for the kinds that are detected this way, outputs that differ between two ways
// to run the same calls. Refuses all other failures with the reason: failures that need
// compute-sanitizer, the host device's scheduler, a reference or an allocator other than the guard
// allocator, and plans with graphs.
#pragma once

#include <redzone/spec.h>

#include <string>
#include <string_view>

#include "core/error.h"
#include "core/plan.h"
#include "core/verdict.h"

namespace redzone::standalone {

// The device on which the programs run.
inline constexpr DeviceKind kProgramDevice = DeviceKind::cuda;

struct ProgramRequest {
  const Plan* plan = nullptr;
  const TargetSpec* spec = nullptr;  // spec of the plan's target
  FailKind kind = FailKind::fault;   // the failure to reproduce
  std::string comment;               // for the top of the file; lines without "//"
  // standalone/cuda.h, or standalone/nvrtc.h for a target that compiles kernels at run time,
  // followed by the target's files (SourceInliner).
  std::string source;
  // A function that registers the target, for a source without REDZONE_PLUGIN; else "".
  std::string registers;
};

// A finding that cannot be exported is a usage error with the reason.
Result<std::string> program_text(const ProgramRequest& request);

}  // namespace redzone::standalone
