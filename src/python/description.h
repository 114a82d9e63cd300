// What `python -m redzone.describe` says of the targets that files of Python declare.
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
  std::string file;  // as the command line named it
  std::int64_t line = 0;
  std::string code_hash;  // of that file and of what it uses, 32 hex digits
  Category category = Category::kernel;
  std::optional<Tolerance> tolerance;
  bool has_reference = false;
  bool capturable = false;
  bool lives_with_process = false;  // one instance for all trials of a worker, not one for each
};

struct Descriptions {
  std::string python, torch, triton;  // versions; "" for a module that is missing
  std::string executable;             // the interpreter that ran; "" if it does not know itself
  std::string code_hash;              // of all of the user's files, 32 hex digits
  std::vector<std::shared_ptr<const TargetDescription>> targets;
};

// `where` names the text in errors.
Result<Descriptions> read_descriptions(std::string_view json, std::string where);

// "Python 3.11.2, torch 2.11.0".
std::string versions_of(const Descriptions& descriptions);

TargetSpec spec_of(const std::shared_ptr<const TargetDescription>& description);

}  // namespace redzone::python
