#include "core/counted.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/dtype.h"
#include "core/spec_names.h"

namespace redzone {
namespace {

std::int64_t product(const Shape& shape, std::size_t dims) {
  std::int64_t n = 1;
  for (std::size_t d = 0; d < dims; ++d)
    if (__builtin_mul_overflow(n, shape[d], &n)) return -1;
  return n;
}

}  // namespace

bool counts_outputs(const TargetSpec& spec) {
  return std::any_of(spec.tensors.begin(), spec.tensors.end(),
                     [](const TensorSpec& t) { return t.counted_by.has_value(); });
}

std::size_t counter_of(const TensorSpec& tensor, const TargetSpec& spec) {
  const auto found =
      std::find_if(spec.tensors.begin(), spec.tensors.end(),
                   [&](const TensorSpec& t) { return t.name == tensor.counted_by->tensor; });
  return static_cast<std::size_t>(found - spec.tensors.begin());
}

std::optional<std::string> counting_problem(const TensorSpec& tensor, const TargetSpec& spec) {
  if (!tensor.counted_by) return std::nullopt;
  if (tensor.role_of || tensor.role != Role::out)
    return fmt::format("tensor '{}' is counted, which only an output of role 'out' can be",
                       tensor.name);
  const std::string& by = tensor.counted_by->tensor;
  const std::size_t index = counter_of(tensor, spec);
  if (index == spec.tensors.size())
    return fmt::format("tensor '{}' is counted by '{}', which is no tensor", tensor.name, by);
  if (spec.tensors[index].counted_by)
    return fmt::format("tensor '{}' is counted by '{}', which is counted itself", tensor.name, by);
  if (tensor.counted_by->dim < 0)
    return fmt::format("tensor '{}' is counted along dim {}", tensor.name, tensor.counted_by->dim);
  return std::nullopt;
}

std::optional<std::string> counting_problem(const TensorSpec& tensor, const TargetSpec& spec,
                                            const Dims& dims, const Config& config) {
  if (!tensor.counted_by) return std::nullopt;
  const TensorSpec& counter = spec.tensors[counter_of(tensor, spec)];
  if (const DType type = counter.dtype_for(config); !is_integer(type))
    return fmt::format("tensor '{}' is counted by '{}', whose elements are {}, not integers",
                       tensor.name, counter.name, name_of(type));
  const Shape shape = tensor.shape_for(dims, config);
  const auto dim = static_cast<std::size_t>(tensor.counted_by->dim);
  if (dim >= shape.size())
    return fmt::format("tensor '{}' is counted along dim {}, and has {} dims", tensor.name, dim,
                       shape.size());
  const Shape counts = counter.shape_for(dims, config);
  const std::int64_t needed = product(shape, dim), given = product(counts, counts.size());
  if (needed != given)
    return fmt::format(
        "tensor '{}' is counted by '{}', which has {} elements, not {}: one for "
        "each index of the dims before dim {}",
        tensor.name, counter.name, given, needed, dim);
  return std::nullopt;
}

}  // namespace redzone
