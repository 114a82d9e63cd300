// Exports a finding of a Python target as one Python file that reproduces its failure without
// Redzone: the text of the user's file, the calls of the plan as data, and the code that runs them
// (python/redzone/standalone), which needs only the modules that the user's file imports.
#pragma once

#include <redzone/spec.h>

#include <filesystem>
#include <string>

#include "core/error.h"
#include "core/plan.h"
#include "core/verdict.h"

namespace redzone::standalone {

struct PythonRequest {
  const Plan* plan = nullptr;
  const TargetSpec* spec = nullptr;  // spec of the plan's target
  Signature signature;               // signature of the failure to reproduce
  bool on_gpu = false;
  std::string comment;  // for the top of the file; lines without "#"
  std::string replay;   // the line that replays the finding with Redzone
  std::filesystem::path file;
  std::string source;  // the text of `file`
};

// A finding that cannot be exported is a usage error with the reason.
Result<std::string> python_program_text(const PythonRequest& request);

}  // namespace redzone::standalone
