// A finding as one CUDA C++ file that shows its failure without Redzone: the target's own source,
// the part of Redzone's headers that it needs, and the calls of the plan as data. nvcc builds it
// alone.
//
// What shows without an oracle of Redzone is exported: a device error, a hang, a write around a
// buffer or over an input; and outputs that differ between two ways to run the same calls, for the
// kinds that are told by that. The rest is refused with the reason: what needs compute-sanitizer,
// the host device's scheduler, a reference or another allocator than the guarded one, and plans
// with graphs.
#pragma once

#include <redzone/spec.h>

#include <string>
#include <string_view>

#include "core/error.h"
#include "core/plan.h"
#include "core/verdict.h"

namespace redzone::standalone {

// What programs run on.
inline constexpr DeviceKind kProgramDevice = DeviceKind::cuda;

struct ProgramRequest {
  const Plan* plan = nullptr;
  const TargetSpec* spec = nullptr;  // of the plan's target
  FailKind kind = FailKind::fault;   // that it is to show
  std::string comment;               // goes to the top; lines without "//"
  // standalone/cuda.h, or standalone/nvrtc.h for a target that compiles kernels at run time, and
  // the target's files, one behind the other (SourceInliner).
  std::string source;
  // A function that registers the target, for a source that has no REDZONE_PLUGIN; "": it has one.
  std::string registers;
};

// Usage errors say what cannot be exported, and why.
Result<std::string> program_text(const ProgramRequest& request);

}  // namespace redzone::standalone
