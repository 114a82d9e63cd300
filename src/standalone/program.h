// A finding as one CUDA C++ file that shows its failure without Redzone: the target's source, the
// required part of Redzone's headers, and the calls of the plan as data. Built with nvcc alone.
//
// Exports failures that show without an oracle: a device error, a hang, a write around a buffer or
// over an input; and outputs that differ between two ways to run the same calls, for the kinds that
// are detected by such a difference. Refuses all others with the reason: those that need
// compute-sanitizer, the host device's scheduler, a reference or an allocator other than the
// guarded one, and plans with graphs.
#pragma once

#include <redzone/spec.h>

#include <string>
#include <string_view>

#include "core/error.h"
#include "core/plan.h"
#include "core/verdict.h"

namespace redzone::standalone {

// The device of programs.
inline constexpr DeviceKind kProgramDevice = DeviceKind::cuda;

struct ProgramRequest {
  const Plan* plan = nullptr;
  const TargetSpec* spec = nullptr;  // of the plan's target
  FailKind kind = FailKind::fault;   // the failure to show
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
