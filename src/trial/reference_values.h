// Values of inputs and outputs as doubles, in the logical (row-major) order of the reference.
#pragma once

#include <cstddef>
#include <vector>

#include "trial/session.h"
#include "trial/tensor_buffer.h"

namespace redzone::trial {

// Number of values of a tensor: two for each complex element, one for any other. Broadcast dims
// count with their full size.
std::size_t count_values(const TensorBuffer& tensor);

// True if memory order equals logical order.
bool is_row_major(const View& view);

// Generates the contents of an input before the call: `n` values from index `first` on, in memory
// order. Reads nothing from the device.
void make_values(const TensorBuffer& tensor, std::int64_t first, std::int64_t n, double* to);

// Converts the values of a tensor from memory order to logical order.
void put_in_order(const TensorBuffer& tensor, const double* in_memory_order,
                  std::vector<double>& logical);

// A tensor as rows: a row consists of the elements that one index of every dim except the last
// selects. A tensor of one dim is one row, and a tensor without elements has no rows. A complex
// element occupies two columns.
class RowsOf {
 public:
  // `tensor` must outlive this object.
  explicit RowsOf(const TensorBuffer& tensor);

  std::int64_t rows() const { return rows_; }
  std::int64_t length() const { return length_; }

  // Contents of `count` rows of an input before the call.
  void make(std::int64_t row, std::int64_t count, double* to) const;
  // One value of such a row.
  double make_one(std::int64_t row, std::int64_t column) const;
  // Reads the current contents of a row. False if the session has stopped.
  bool read(Session& session, std::int64_t row, double* to) const;

 private:
  // Indices in memory order: of the first value of a row, and of the value in column `column`.
  std::int64_t start(std::int64_t row) const;
  std::int64_t index(std::int64_t row, std::int64_t column) const {
    return start(row) + column / reals_ * step_ + column % reals_;
  }
  // Byte offset from the tensor's data of the value with this index in memory order.
  std::int64_t offset_bytes(std::int64_t index) const;

  const TensorBuffer& tensor_;
  std::int64_t reals_;  // per element
  std::int64_t rows_ = 1, length_;
  std::int64_t step_;  // between adjacent elements of a row, in values
  bool row_major_ = false;
};

}  // namespace redzone::trial
