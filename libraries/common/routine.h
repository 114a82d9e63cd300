// A library routine as a target: its spec, the function that calls it, and the expected values of
// one row of an output. This is the part common to all libraries; each library adds a table of
// routines.
#pragma once

#include <redzone/target.h>

#include <functional>
#include <span>
#include <string_view>

#include "common/input_rows.h"

namespace redzone::libraries {

struct Routine {
  TargetSpec spec;
  // Enqueues one call. Only used on a GPU, with the library loaded.
  std::function<void(Context&)> run;
  // Computes row `row` of `output` (rows as in <redzone/target.h>). `values` holds zeros, or the
  // row before the call if the tensor is inout; complex elements are two values each.
  std::function<void(InputRows&, std::string_view output, std::int64_t row,
                     std::span<double> values)>
      row;
};

// Number of rows that a sampled reference computes, for calls that are too large to be compared
// whole.
inline constexpr int kSampledRows = 8;

// Registers the routine. `missing` returns why the library cannot be called in this process, or "".
// If it returns a reason, plans are not applicable, with this reason. It is not called on the host
// device, where GPU libraries cannot run.
void add(Registrar& registrar, Routine routine, std::function<std::string()> missing);

}  // namespace redzone::libraries
