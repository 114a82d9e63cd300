// An array of pointers in device memory, one for each problem of a batch, as routines named
// `Batched` take it. A kernel writes it, so that it is ready in stream order and in a graph.
#pragma once

#include <redzone/target.h>

#include <string_view>

namespace redzone::libraries {

// Pointers to the `shape[0]` problems of the tensor, `strides[0]` elements apart. Null if there are
// none, or if memory is exhausted, which ends the call.
void** pointer_array(Context& ctx, std::string_view tensor);

}  // namespace redzone::libraries
