#include "described/description.h"

#include <fmt/format.h>

#include <stdexcept>

#include "core/spec_names.h"

namespace redzone::described {
namespace {

// Work of a call whose work expression has no value.
constexpr double kEndlessWork = 1e18;

std::int64_t value_or_throw(const Expression& expression, const Dims& dims) {
  const auto value = expression.value(dims);
  if (!value) throw std::invalid_argument(value.error());
  return *value;
}

Fill fill_of(const Tensor& tensor) {
  switch (tensor.fill) {
    case Fill::Kind::uniform:
      return Fill::uniform(tensor.lo, tensor.hi);
    case Fill::Kind::sums:
      return Fill::sums(tensor.lo, tensor.hi);
    case Fill::Kind::special_values:
      return Fill::special_values(tensor.lo, tensor.hi);
    case Fill::Kind::constant:
      return Fill::constant(tensor.lo);
    case Fill::Kind::integers:
      return Fill::integers([from = *tensor.from, to = *tensor.to](const Dims& dims) {
        return std::pair(value_or_throw(from, dims), value_or_throw(to, dims));
      });
    case Fill::Kind::offsets:
      return Fill::offsets(
          [total = *tensor.to](const Dims& dims) { return value_or_throw(total, dims); });
  }
  return {};
}

TensorSpec tensor_spec(const Tensor& tensor) {
  TensorSpec spec;
  spec.name = tensor.name;
  spec.dtype = tensor.dtype;
  spec.role = tensor.role;
  spec.shape = [shape = tensor.shape](const Dims& dims) {
    Shape out;
    for (const auto& extent : shape) out.push_back(value_or_throw(extent, dims));
    return out;
  };
  spec.layouts = tensor.layouts;
  spec.fill = fill_of(tensor);
  spec.align_bytes = tensor.align_bytes;
  spec.tolerance = tensor.tolerance;
  spec.counted_by = tensor.counted_by;
  if (!tensor.dtype_of.empty())
    spec.dtype_of = [knob = tensor.dtype_of](const Config& config) {
      return *value_named<DType>(get_str(config, knob));
    };
  return spec;
}

double work_of(const Description& description, const Dims& dims, const Config& config) {
  Values values = dims;
  add_knobs(values, description.knobs, config);
  const auto work = description.work->value(values);
  return work ? static_cast<double>(*work) : kEndlessWork;
}

}  // namespace

void add_knobs(Values& values, const std::vector<KnobSpec>& knobs, const Config& config) {
  for (const auto& knob : knobs) {
    const Value& value = config.find(knob.name)->second;
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      values[knob.name] = *number;
      continue;
    }
    for (const Value& other : knob.values)
      values[fmt::format("{}_is_{}", knob.name, std::get<std::string>(other))] = value == other;
  }
}

TargetSpec spec_of(const std::shared_ptr<const Description>& description) {
  TargetSpec spec;
  spec.name = description->name;
  spec.doc = description->doc;
  spec.dims = description->dims;
  spec.constraints = description->constraints;
  for (const auto& tensor : description->tensors) spec.tensors.push_back(tensor_spec(tensor));
  spec.knobs = description->knobs;
  spec.deterministic = description->deterministic;
  spec.alignment_changes_bits = description->alignment_changes_bits;
  spec.remembers_addresses = description->remembers_addresses;
  if (description->work)
    spec.work = [description](const Dims& dims, const Config& config) {
      return work_of(*description, dims, config);
    };
  return spec;
}

}  // namespace redzone::described
