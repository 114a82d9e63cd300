// A routine of a library as a target: its spec, what calls it, and the expected values of one row
// of an output. What libraries have in common is here; a library adds a table of routines.
#pragma once

#include <redzone/target.h>

#include <functional>
#include <span>
#include <string_view>

#include "common/input_rows.h"

namespace redzone::libraries {

struct Routine {
  TargetSpec spec;
  // Enqueues one call. Only used on a GPU with the library loaded.
  std::function<void(Context&)> run;
  // Row `row` of `output` (rows as in <redzone/target.h>). `values` holds zeros, or the row before
  // the call if the tensor is inout; complex elements are two values each.
  std::function<void(InputRows&, std::string_view output, std::int64_t row,
                     std::span<double> values)>
      row;
};

// Rows that a sampled reference is asked for; calls that are too large to be compared whole.
inline constexpr int kSampledRows = 8;

// Registers the routine. `missing` returns why the library cannot be called in this process, or "":
// then the plan is not applicable, with this reason. It is not called on the host device, where
// libraries for GPUs cannot run.
void add(Registrar& registrar, Routine routine, std::function<std::string()> missing);

}  // namespace redzone::libraries
