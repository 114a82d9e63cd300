#include "exec/trial/reference_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>

#include "device/buffer_math.h"

namespace redzone::exec {
namespace {

// Reading by windows of this size keeps both the number of copies and, where rows are far apart,
// the bytes copied low.
constexpr std::size_t kReadWindowBytes = 256 * 1024;

class Reader {
 public:
  Reader(Session& session, const TensorBuffer& tensor)
      : session_(session), end_(tensor.at.storage + tensor.storage.bytes) {}

  // Pointer to a copy of `bytes` at `from`; null when the session stopped. Addresses ascend.
  const std::byte* get(const std::byte* from, std::size_t bytes) {
    if (buffer_.empty() || from < from_ || from + bytes > from_ + buffer_.size()) {
      from_ = from;
      buffer_.resize(std::min<std::size_t>(static_cast<std::size_t>(end_ - from),
                                           std::max(bytes, kReadWindowBytes)));
      if (!session_.read(buffer_.data(), from, buffer_.size())) return nullptr;
    }
    return buffer_.data() + (from - from_);
  }

 private:
  Session& session_;
  const std::byte* end_;
  const std::byte* from_ = nullptr;
  std::vector<std::byte> buffer_;
};

std::size_t count(const Shape& shape) {
  std::size_t n = 1;
  for (auto s : shape) n *= static_cast<std::size_t>(s);
  return n;
}

// Index in memory order of each element in logical (row-major) order.
std::vector<std::int64_t> memory_indices(const View& view) {
  const std::size_t rank = view.shape.size();
  std::vector<std::int64_t> indices(count(view.shape));
  Shape at(rank, 0);
  std::int64_t memory = view.first_index;
  for (auto& index : indices) {
    index = memory;
    for (std::size_t d = rank; d-- > 0;) {
      memory += view.index_steps[d];
      if (++at[d] < view.shape[d]) break;
      memory -= view.index_steps[d] * view.shape[d];
      at[d] = 0;
    }
  }
  return indices;
}

bool is_row_major(const View& view) {
  std::int64_t step = 1;
  for (std::size_t d = view.shape.size(); d-- > 0;) {
    if (view.shape[d] > 1 && view.index_steps[d] != step) return false;
    step *= view.shape[d];
  }
  return true;
}

// `values` are in memory order.
std::vector<double> in_logical_order(const View& view, std::vector<double> values) {
  if (is_row_major(view)) return values;
  std::vector<double> logical;
  logical.reserve(values.size());
  for (auto index : memory_indices(view))
    logical.push_back(values[static_cast<std::size_t>(index)]);
  return logical;
}

// What the call found in an input, in logical order.
std::vector<double> initial_values(const TensorBuffer& tensor) {
  std::vector<double> values(static_cast<std::size_t>(tensor.view.numel));
  for (std::int64_t i = 0; i < tensor.view.numel; ++i) {
    const std::uint64_t bits = device::fill_bits(tensor.job, i);
    values[static_cast<std::size_t>(i)] = device::decode(tensor.dtype, &bits);
  }
  return in_logical_order(tensor.view, std::move(values));
}

// What the call left in an output, in logical order. Empty when the session stopped.
std::vector<double> final_values(Session& session, const TensorBuffer& tensor) {
  const std::size_t element_bytes = dtype_bytes(tensor.dtype);
  const std::int64_t run = tensor.view.memory_sizes.back();
  std::vector<double> values(static_cast<std::size_t>(tensor.view.numel));
  Reader reader(session, tensor);
  for (std::int64_t i = 0; i < tensor.view.numel; i += run) {
    const std::int64_t offset = device::run_offset(tensor.job, i / run);
    const std::byte* elements =
        reader.get(tensor.at.data + offset * static_cast<std::int64_t>(element_bytes),
                   static_cast<std::size_t>(run) * element_bytes);
    if (elements == nullptr) return {};
    for (std::int64_t k = 0; k < run; ++k)
      values[static_cast<std::size_t>(i + k)] =
          device::decode(tensor.dtype, elements + static_cast<std::size_t>(k) * element_bytes);
  }
  return in_logical_order(tensor.view, std::move(values));
}

class ReferenceInput final : public ReferenceCall {
 public:
  explicit ReferenceInput(const CallUnit& unit) : unit_(unit), inputs_(unit.tensors.size()) {
    outputs_.resize(unit.tensors.size());
    for (std::size_t i = 0; i < unit.tensors.size(); ++i) {
      const TensorBuffer& tensor = unit.tensors[i];
      if (tensor.spec->role != Role::out) inputs_[i] = initial_values(tensor);
      if (tensor.spec->role == Role::inout) outputs_[i] = inputs_[i];
      if (tensor.spec->role == Role::out) outputs_[i].assign(count(tensor.view.shape), 0.0);
    }
  }
  const Dims& dims() const override { return unit_.item->call->dims; }
  const Config& config() const override { return unit_.item->call->config; }
  std::span<const double> input(std::string_view name) const override {
    const std::size_t i = index_of(name);
    if (unit_.tensors[i].spec->role == Role::out)
      throw std::out_of_range(fmt::format("tensor '{}' is no input", name));
    return inputs_[i];
  }
  std::span<double> output(std::string_view name) override {
    const std::size_t i = index_of(name);
    if (unit_.tensors[i].spec->role == Role::in)
      throw std::out_of_range(fmt::format("tensor '{}' is no output", name));
    return outputs_[i];
  }
  std::span<const double> expected(std::size_t i) const { return outputs_[i]; }

 private:
  std::size_t index_of(std::string_view name) const {
    for (std::size_t i = 0; i < unit_.tensors.size(); ++i)
      if (unit_.tensors[i].spec->name == name) return i;
    throw std::out_of_range(fmt::format("no tensor '{}'", name));
  }

  const CallUnit& unit_;
  std::vector<std::vector<double>> inputs_, outputs_;  // by tensor
};

// |got - want| / (abs + rel * |want|): at most 1 is a match.
double relative_error(double got, double want, const Tolerance& tolerance) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (std::isnan(want) && std::isnan(got)) return 0;
  if (std::isnan(want) || std::isnan(got)) return kInfinity;
  if (got == want) return 0;  // equal infinities too
  if (std::isinf(want) || std::isinf(got)) return kInfinity;
  const double allowed = tolerance.abs + tolerance.rel * std::abs(want);
  return allowed > 0 ? std::abs(got - want) / allowed : kInfinity;
}

ReferenceObservation compare(const std::string& tensor, std::span<const double> got,
                             std::span<const double> want, const Tolerance& tolerance) {
  ReferenceObservation o;
  o.tensor = tensor;
  o.numel = got.size();
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double error = relative_error(got[i], want[i], tolerance);
    o.worst = std::max(o.worst, error);
    if (error <= 1) continue;
    if (o.mismatches++ > 0) continue;
    o.first_index = i;
    o.got = got[i];
    o.want = want[i];
  }
  return o;
}

}  // namespace

double work_of(const TargetSpec& spec, const CallUnit& unit) {
  if (spec.work) return spec.work(unit.item->call->dims, unit.item->call->config);
  double elements = 0;
  for (const auto& tensor : unit.tensors) elements += static_cast<double>(tensor.view.numel);
  return elements;
}

void compare_with_reference(TrialState& state, const Target& target, const TargetSpec& spec,
                            const CallUnit& unit) {
  ReferenceInput call(unit);
  const auto thrown = [&](const char* what) {
    state.session.stop(End::worker_error,
                       fmt::format("the reference of {} threw: {}", spec.name, what));
  };
  try {
    target.reference(call);
  } catch (const std::exception& e) {
    return thrown(e.what());
  } catch (...) {
    return thrown("something that is no std::exception");
  }
  const Tolerance tolerance = spec.tolerance_for(unit.item->call->config);
  auto& references = state.of_call(unit.item->index).references;
  for (std::size_t i = 0; i < unit.tensors.size(); ++i) {
    const TensorBuffer& tensor = unit.tensors[i];
    if (tensor.spec->role == Role::in) continue;
    const auto got = final_values(state.session, tensor);
    if (state.session.stopped()) return;
    references.push_back(compare(tensor.spec->name, got, call.expected(i),
                                 tensor.spec->tolerance.value_or(tolerance)));
  }
}

}  // namespace redzone::exec
