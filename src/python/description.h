// The targets that Python files declare, as written by `python -m redzone.describe`.
#pragma once

#include <redzone/spec.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "described/description.h"

namespace redzone::python {

struct TargetDescription : described::Description {
  std::string file;  // as named on the command line
  std::int64_t line = 0;
  std::string code_hash;  // hash of that file and the code that it uses, 32 hex digits
  Category category = Category::kernel;
  std::optional<Tolerance> tolerance;
  bool has_reference = false;
  bool capturable = false;
  // One instance for all trials of a worker instead of one per trial
  bool lives_with_process = false;
};

struct Descriptions {
  std::string python, torch, triton;  // versions; "" for a module that is missing
  std::string executable;             // the interpreter that ran; "" if it does not report its path
  std::string code_hash;              // hash of all of the user's files, 32 hex digits
  std::vector<std::shared_ptr<const TargetDescription>> targets;
};

// `where` names the JSON text in errors.
Result<Descriptions> read_descriptions(std::string_view json, std::string where);

// For example "Python 3.11.2, torch 2.11.0".
std::string versions_of(const Descriptions& descriptions);

TargetSpec spec_of(const std::shared_ptr<const TargetDescription>& description);

}  // namespace redzone::python
