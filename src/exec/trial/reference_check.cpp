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

// Row-major logical index of each element, by memory index. Empty when they are the same.
std::vector<std::int64_t> logical_indices(const View& view) {
  const std::size_t rank = view.shape.size(), memory_rank = view.memory_sizes.size();
  Shape row_major(rank, 1);
  for (std::size_t d = rank; d-- > 1;) row_major[d - 1] = row_major[d] * view.shape[d];
  // How far one step of a memory dim goes in logical order. The strides of dims of size > 1 differ,
  // so they tell which is which; a run of one element where no dim has stride 1 goes nowhere.
  Shape steps(memory_rank, 0);
  for (std::size_t m = 0; m < memory_rank; ++m)
    for (std::size_t d = 0; d < rank; ++d)
      if (view.shape[d] > 1 && view.strides[d] == view.memory_strides[m]) steps[m] = row_major[d];
  if (std::is_sorted(steps.begin(), steps.end(), std::greater<>{})) return {};

  std::vector<std::int64_t> indices(static_cast<std::size_t>(view.numel));
  Shape at(memory_rank, 0);
  std::int64_t logical = 0;
  for (auto& index : indices) {
    index = logical;
    for (std::size_t m = memory_rank; m-- > 0;) {
      logical += steps[m];
      if (++at[m] < view.memory_sizes[m]) break;
      logical -= steps[m] * view.memory_sizes[m];
      at[m] = 0;
    }
  }
  return indices;
}

std::size_t logical_at(const std::vector<std::int64_t>& indices, std::int64_t memory_index) {
  const auto i = static_cast<std::size_t>(memory_index);
  return indices.empty() ? i : static_cast<std::size_t>(indices[i]);
}

// What the call found in an input, in logical order.
std::vector<double> initial_values(const TensorBuffer& tensor) {
  const auto indices = logical_indices(tensor.view);
  std::vector<double> values(static_cast<std::size_t>(tensor.view.numel));
  for (std::int64_t i = 0; i < tensor.view.numel; ++i) {
    const std::uint64_t bits = device::fill_bits(tensor.job, i);
    values[logical_at(indices, i)] = device::decode(tensor.dtype, &bits);
  }
  return values;
}

// What the call left in an output, in logical order. Empty when the session stopped.
std::vector<double> final_values(Session& session, const TensorBuffer& tensor) {
  const auto indices = logical_indices(tensor.view);
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
      values[logical_at(indices, i + k)] =
          device::decode(tensor.dtype, elements + static_cast<std::size_t>(k) * element_bytes);
  }
  return values;
}

class ReferenceInput final : public ReferenceCall {
 public:
  explicit ReferenceInput(const CallUnit& unit) : unit_(unit), inputs_(unit.tensors.size()) {
    outputs_.resize(unit.tensors.size());
    for (std::size_t i = 0; i < unit.tensors.size(); ++i) {
      const TensorBuffer& tensor = unit.tensors[i];
      if (tensor.spec->role != Role::out) inputs_[i] = initial_values(tensor);
      if (tensor.spec->role == Role::inout) outputs_[i] = inputs_[i];
      if (tensor.spec->role == Role::out)
        outputs_[i].assign(static_cast<std::size_t>(tensor.view.numel), 0.0);
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
