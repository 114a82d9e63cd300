// Index arrays of a sparse matrix, in scratch memory of exactly their size.
#pragma once

#include <redzone/target.h>

#include "cusparse/pattern.h"

namespace redzone::libraries::cusparse {

struct IndexArrays {
  void* rows = nullptr;  // CSR: rows + 1 offsets; COO: the row of each element
  void* columns = nullptr;
};

// Enqueues a kernel that writes the arrays, with 64-bit integers if `wide`, else 32-bit. See
// Context::ended().
IndexArrays write_indices(Context& ctx, const Pattern& pattern, bool coo, bool wide);

}  // namespace redzone::libraries::cusparse
