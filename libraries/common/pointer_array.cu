#include "common/pointer_array.h"

#include <redzone/kernel.h>

#include <cstdint>

namespace redzone::libraries {
namespace {

__global__ void point_to_problems(void** pointers, char* base, std::int64_t stride_bytes,
                                  std::int64_t count) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) pointers[i] = base + i * stride_bytes;
}

}  // namespace

void** pointer_array(Context& ctx, std::string_view tensor) {
  constexpr std::int64_t kBlock = 128;
  const auto t = ctx.tensor(tensor);
  const std::int64_t count = t.shape[0];
  if (count == 0) return nullptr;
  const auto bytes = static_cast<std::size_t>(count) * sizeof(void*);
  auto* const array = static_cast<void**>(ctx.scratch(tensor, bytes, alignof(void*)));
  if (array == nullptr) return nullptr;
  const auto element_bytes = static_cast<std::int64_t>(dtype_bytes(t.dtype));
  launch(ctx, "point_to_problems", point_to_problems, {{(count + kBlock - 1) / kBlock}, {kBlock}},
         array, t.data<char>(), t.strides[0] * element_bytes, count);
  return array;
}

}  // namespace redzone::libraries
