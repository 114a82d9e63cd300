// The source of a program for a finding in a package (program.h): the cubins that its plan needs,
// as bytes, and the launches that the package's target makes for each call. The launches are
// recorded without a device, by running the target on made-up addresses.
//
// Refuses, with the reason, a target that needs more than its tensors and scratch, because its
// launches are not known in advance; and a target that would use another cubin if its buffers
// moved, if the failure is detected by moving them.
#pragma once

#include <redzone/target.h>

#include <string>

#include "core/error.h"
#include "core/plan.h"
#include "core/verdict.h"

namespace redzone::standalone {

struct RecordingRequest {
  const Plan* plan = nullptr;
  const TargetSpec* spec = nullptr;  // spec of the plan's target
  TargetFactory make;
  FailKind kind = FailKind::fault;  // the failure to reproduce
};

// The text must follow standalone/cuda.h and standalone/recorded.h. Errors are usage errors.
Result<std::string> recorded_source(const RecordingRequest& request);

}  // namespace redzone::standalone
