#include "trial/reference_values.h"

#include <algorithm>

#include "device/buffer_math.h"
#include "device/element.h"
#include "device/element_loops.h"

namespace redzone::trial {
namespace {

// Elements generated at a time: they are converted while they are in the cache.
constexpr std::int64_t kMadeAtOnce = 2048;

// Elements within a range of this many bytes are read by one copy.
constexpr std::int64_t kWindowBytes = 256 * 1024;

DType real_type_of(const TensorBuffer& tensor) {
  return static_cast<DType>(tensor.job.dtype);
}

template <std::int64_t Reals>
void put_elements(const View& view, const double* from, double* to, const double* end) {
  const std::size_t outer = view.shape.empty() ? 0 : view.shape.size() - 1;
  const std::int64_t length = view.shape.empty() ? 1 : view.shape.back();
  const std::int64_t step = view.shape.empty() ? 1 : view.index_steps.back();
  Shape at(outer, 0);
  std::int64_t first = view.first_index;
  for (; to != end; to += length * Reals) {
    for (std::int64_t k = 0; k < length; ++k)
      for (std::int64_t part = 0; part < Reals; ++part)
        to[k * Reals + part] = from[(first + k * step) * Reals + part];
    for (std::size_t d = outer; d-- > 0;) {
      first += view.index_steps[d];
      if (++at[d] < view.shape[d]) break;
      first -= view.index_steps[d] * view.shape[d];
      at[d] = 0;
    }
  }
}

}  // namespace

std::size_t count_values(const TensorBuffer& tensor) {
  auto n = static_cast<std::size_t>(reals_per_element(tensor.dtype));
  for (auto s : tensor.view.shape) n *= static_cast<std::size_t>(s);
  return n;
}

bool is_row_major(const View& view) {
  std::int64_t step = 1;
  for (std::size_t d = view.shape.size(); d-- > 0;) {
    if (view.shape[d] > 1 && view.index_steps[d] != step) return false;
    step *= view.shape[d];
  }
  return true;
}

void make_values(const TensorBuffer& tensor, std::int64_t first, std::int64_t n, double* to) {
  std::byte bytes[kMadeAtOnce * sizeof(double)];  // any type
  const device::ElementLoops& loops = device::element_loops(tensor.job);
  for (std::int64_t done = 0; done < n; done += kMadeAtOnce) {
    const std::int64_t now = std::min(kMadeAtOnce, n - done);
    loops.fill(tensor.job, bytes, first + done, now);
    device::decode_elements(real_type_of(tensor), bytes, now, to + done);
  }
}

void put_in_order(const TensorBuffer& tensor, const double* in_memory_order,
                  std::vector<double>& logical) {
  logical.resize(count_values(tensor));
  double* const end = logical.data() + logical.size();
  if (reals_per_element(tensor.dtype) == 1)
    put_elements<1>(tensor.view, in_memory_order, logical.data(), end);
  else
    put_elements<2>(tensor.view, in_memory_order, logical.data(), end);
}

RowsOf::RowsOf(const TensorBuffer& tensor)
    : tensor_(tensor),
      reals_(reals_per_element(tensor.dtype)),
      length_(reals_),
      step_(reals_),
      row_major_(is_row_major(tensor.view)) {
  const Shape& shape = tensor.view.shape;
  if (!shape.empty()) {
    length_ *= shape.back();
    step_ *= tensor.view.index_steps.back();
  }
  for (std::size_t d = 0; d + 1 < shape.size(); ++d) rows_ *= shape[d];
  if (length_ == 0) rows_ = 0;
}

std::int64_t RowsOf::start(std::int64_t row) const {
  const View& view = tensor_.view;
  std::int64_t index = view.first_index;
  for (std::size_t d = view.shape.empty() ? 0 : view.shape.size() - 1; d-- > 0;) {
    index += row % view.shape[d] * view.index_steps[d];
    row /= view.shape[d];
  }
  return index * reals_;
}

void RowsOf::make(std::int64_t row, std::int64_t count, double* to) const {
  if (row_major_) return make_values(tensor_, start(row), count * length_, to);
  for (std::int64_t i = 0; i < count; ++i, to += length_) {
    if (step_ == reals_)
      make_values(tensor_, start(row + i), length_, to);
    else
      for (std::int64_t c = 0; c < length_; ++c) to[c] = make_one(row + i, c);
  }
}

double RowsOf::make_one(std::int64_t row, std::int64_t column) const {
  const std::uint64_t bits = device::fill_bits(tensor_.job, index(row, column));
  return device::decode(real_type_of(tensor_), &bits);
}

std::int64_t RowsOf::offset_bytes(std::int64_t index) const {
  const std::int64_t run = tensor_.job.size[tensor_.job.rank - 1];
  return (device::run_offset(tensor_.job, index / run) + index % run) *
         static_cast<std::int64_t>(dtype_bytes(real_type_of(tensor_)));
}

bool RowsOf::read(Session& session, std::int64_t row, double* to) const {
  const DType type = real_type_of(tensor_);
  const auto value_bytes = static_cast<std::int64_t>(dtype_bytes(type));
  std::vector<std::byte> copy;
  for (std::int64_t c = 0; c < length_;) {
    // As many of the next values as fit into one window, in ascending or descending order of
    // addresses.
    std::int64_t low = offset_bytes(index(row, c)), high = low, count = 1;
    for (; c + count < length_; ++count) {
      const std::int64_t at = offset_bytes(index(row, c + count));
      if (std::max(high, at) - std::min(low, at) + value_bytes > kWindowBytes) break;
      low = std::min(low, at);
      high = std::max(high, at);
    }
    copy.resize(static_cast<std::size_t>(high - low + value_bytes));
    if (!session.read(copy.data(), tensor_.at.data + low, copy.size())) return false;
    for (const std::int64_t stop = c + count; c < stop; ++c)
      *to++ = device::decode(type, copy.data() + (offset_bytes(index(row, c)) - low));
  }
  return true;
}

}  // namespace redzone::trial
