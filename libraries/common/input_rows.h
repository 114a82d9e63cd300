// Inputs of one call for a reference that computes its outputs row by row: the same code computes
// the whole reference of a small call and the sample of a large one.
#pragma once

#include <redzone/target.h>

#include <complex>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redzone::libraries {

// An input as a matrix: one index of every dim except the last selects a row; rows are in row-major
// order. Borrows the call. In a sampled call, elements are computed when they are read: for a
// tensor of at most kMostKept elements all at once, so that any order of reads is fast; for a
// larger tensor one element, or the whole row once the same row is read again.
class InputTensor {
 public:
  // All elements are given, `columns` per row.
  InputTensor(std::span<const double> all, std::int64_t columns, int reals)
      : all_(all), columns_(columns), reals_(reals) {}
  // A tensor of `rows` rows in a sampled call.
  InputTensor(SampledCall& call, std::string name, std::int64_t rows, std::int64_t columns,
              int reals)
      : call_(&call),
        name_(std::move(name)),
        rows_(rows),
        columns_(columns),
        reals_(reals),
        keeps_all_(columns == 0 || rows <= kMostKept / columns) {}

  static constexpr std::int64_t kMostKept = std::int64_t{4} << 20;

  std::int64_t columns() const { return columns_; }

  // Row `row` with its columns() elements; V must be the tensor's element type. Valid until another
  // row is read.
  template <class V>
  const V* row_of(std::int64_t row) {
    if (call_ != nullptr && !keeps_all_) keep(row, 1);
    return reinterpret_cast<const V*>(element(row, 0));
  }

  // V is double, or std::complex<double> for a tensor of complex elements.
  template <class V>
  V at(std::int64_t row, std::int64_t column) {
    const double* const e = element(row, column);
    if constexpr (std::is_same_v<V, double>) {
      return e[0];
    } else {
      return reals_ == 2 ? V(e[0], e[1]) : V(e[0], 0);
    }
  }

 private:
  const double* element(std::int64_t row, std::int64_t column) {
    if (call_ == nullptr) return all_.data() + (row * columns_ + column) * reals_;
    if (keeps_all_ && row_ < 0) keep(0, rows_);
    if (keeps_all_) return kept_.data() + (row * columns_ + column) * reals_;
    if (row != row_ && row != asked_) {
      asked_ = row;
      for (int r = 0; r < reals_; ++r) one_[r] = call_->input_at(name_, row, column * reals_ + r);
      return one_;
    }
    keep(row, 1);
    return kept_.data() + column * reals_;
  }

  void keep(std::int64_t first_row, std::int64_t count) {
    if (first_row == row_) return;
    const auto read = call_->input(name_, first_row, count);
    kept_.assign(read.begin(), read.end());
    row_ = first_row;
  }

  std::span<const double> all_;
  SampledCall* call_ = nullptr;
  std::string name_;
  std::int64_t rows_ = 0, columns_ = 0;
  int reals_ = 1;
  bool keeps_all_ = false;
  std::int64_t row_ = -1;     // first row in kept_
  std::vector<double> kept_;  // one row, or all
  std::int64_t asked_ = -1;   // row of one_
  double one_[2] = {};
};

// Access to the inputs for a reference. An inout tensor is read as it was before the call.
class InputRows {
 public:
  InputRows(const TargetSpec& spec, ReferenceCall& call) : spec_(&spec), whole_(&call) {}
  InputRows(const TargetSpec& spec, SampledCall& call) : spec_(&spec), sampled_(&call) {}

  const Dims& dims() const { return whole_ != nullptr ? whole_->dims() : sampled_->dims(); }
  const Config& config() const { return whole_ != nullptr ? whole_->config() : sampled_->config(); }
  std::int64_t dim(std::string_view name) const { return get(dims(), name); }
  std::int64_t knob(std::string_view name) const { return get_int(config(), name); }

  // Throws SpecError for a name that the spec does not declare.
  InputTensor tensor(std::string_view name) const;

 private:
  const TargetSpec* spec_;
  ReferenceCall* whole_ = nullptr;
  SampledCall* sampled_ = nullptr;
};

}  // namespace redzone::libraries
