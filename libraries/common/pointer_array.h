// An array of pointers in device memory, one for each problem of a batch, as required by routines
// named `Batched`. A kernel writes the array, so that it is ready in stream order and in a graph.
#pragma once

#include <redzone/target.h>

#include <string_view>

namespace redzone::libraries {

// Pointers to the `shape[0]` problems of the tensor, which are `strides[0]` elements apart. Null if
// there are no problems, or if memory is exhausted, which ends the call.
void** pointer_array(Context& ctx, std::string_view tensor);

}  // namespace redzone::libraries
