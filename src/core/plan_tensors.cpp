#include "core/plan_tensors.h"

#include <fmt/format.h>

#include <exception>

#include "core/layout.h"
#include "core/validate.h"

namespace redzone {
namespace {

Result<void> add_tensors(const Call& call, std::size_t index, const TargetSpec& spec,
                         std::vector<PlanTensor>& out) {
  for (const TensorSpec& tensor : spec.tensors) {
    RZ_TRY_ASSIGN(View view,
                  make_view(tensor.shape_for(call.dims, call.config), call.layout(tensor.name)));
    const DType dtype = tensor.dtype_for(call.config);
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(view.storage_elems, static_cast<std::int64_t>(dtype_bytes(dtype)),
                               &bytes))
      return usage_error(
          fmt::format("tensor '{}' of call {} has too many bytes", tensor.name, index + 1));
    out.push_back({index, tensor.name, tensor.role_for(call.config), dtype, std::move(view.shape),
                   std::move(view.strides), view.offset_elems + view.origin_elems, bytes});
  }
  return {};
}

}  // namespace

Result<std::vector<PlanTensor>> tensors_of(const Plan& plan, const TargetSpec& spec,
                                           std::string_view where) {
  RZ_TRY(validate(plan, spec, where));
  std::vector<PlanTensor> out;
  const auto calls = calls_of(plan);
  try {
    for (std::size_t i = 0; i < calls.size(); ++i)
      if (auto added = add_tensors(calls[i]->call, i, spec, out); !added)
        return usage_error(fmt::format("{}: {}", where, added.error().message));
  } catch (const std::exception& e) {
    return usage_error(fmt::format("{}: {}", where, e.what()));  // thrown by the spec's functions
  }
  return out;
}

}  // namespace redzone
