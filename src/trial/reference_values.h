// Values of inputs and outputs as doubles, in the logical (row-major) order of the reference.
#pragma once

#include <cstddef>
#include <vector>

#include "trial/session.h"
#include "trial/tensor_buffer.h"

namespace redzone::trial {

// Values of a tensor, with broadcast dims counted as often as they are seen: two for each complex
// element, one for any other.
std::size_t count_values(const TensorBuffer& tensor);

// Whether memory order is logical order.
bool is_row_major(const View& view);

// Contents of an input before the call: `n` values from index `first` on, in memory order. None is
// read from the device.
void make_values(const TensorBuffer& tensor, std::int64_t first, std::int64_t n, double* to);

// Writes the values of a tensor, which are given in memory order, in logical order.
void put_in_order(const TensorBuffer& tensor, const double* in_memory_order,
                  std::vector<double>& logical);

// A tensor as rows: all that one index of every dim but the last selects. A tensor of one dim is
// one row, and one without elements has none. A row of complex elements has two columns for each.
class RowsOf {
 public:
  // `tensor` must outlive this.
  explicit RowsOf(const TensorBuffer& tensor);

  std::int64_t rows() const { return rows_; }
  std::int64_t length() const { return length_; }

  // Contents of `count` rows of an input before the call.
  void make(std::int64_t row, std::int64_t count, double* to) const;
  // One value of them.
  double make_one(std::int64_t row, std::int64_t column) const;
  // Contents of a row now. False if the session has stopped.
  bool read(Session& session, std::int64_t row, double* to) const;

 private:
  // Indices of values in memory order: of a row's first, and of one in column `column`.
  std::int64_t start(std::int64_t row) const;
  std::int64_t index(std::int64_t row, std::int64_t column) const {
    return start(row) + column / reals_ * step_ + column % reals_;
  }
  // Offset in bytes from the tensor's data of a value, given by its index in memory order.
  std::int64_t offset_bytes(std::int64_t index) const;

  const TensorBuffer& tensor_;
  std::int64_t reals_;  // per element
  std::int64_t rows_ = 1, length_;
  std::int64_t step_;  // between the elements of a row, in values
  bool row_major_ = false;
};

}  // namespace redzone::trial
