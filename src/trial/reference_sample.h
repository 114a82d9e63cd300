// The reference for some rows of each output of a call.
#pragma once

#include <redzone/target.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "trial/reference_memory.h"
#include "trial/reference_values.h"
#include "trial/trial_state.h"

namespace redzone::trial {

// Chooses `wanted` rows, in ascending order, of a tensor whose dims except the last have the sizes
// `outer`; all rows if there are no more. Includes the first and the last row; every second of the
// others has the last index in one of the dims, because partial tiles lie there. The same seed
// gives the same rows.
std::vector<std::int64_t> choose_rows(std::span<const std::int64_t> outer, int wanted,
                                      std::uint64_t seed);

// Bytes of host memory for a sample of the call's outputs, without the inputs that the target
// requests.
std::size_t sample_bytes(const CallUnit& unit, int rows_of_each);

// One call for Target::reference_rows(). The chosen rows depend on everything in the plan's call,
// so that equal calls are compared in equal rows, and different calls in different rows. `unit`
// must outlive the object.
class RowsCall final : public SampledCall {
 public:
  RowsCall(const CallUnit& unit, int rows_of_each);

  const Dims& dims() const override { return unit_.item->call->dims; }
  const Config& config() const override { return unit_.item->call->config; }
  std::span<const std::int64_t> rows(std::string_view output) const override;
  std::span<double> output(std::string_view name, std::size_t i) override;
  std::span<const double> input(std::string_view name, std::int64_t first_row,
                                std::int64_t count) override;
  double input_at(std::string_view name, std::int64_t row, std::int64_t column) override;

  // Shape and chosen rows of the tensor with this index in the spec.
  const RowsOf& shape_of(std::size_t tensor) const { return shapes_[tensor]; }
  const std::vector<std::int64_t>& rows_of(std::size_t tensor) const { return rows_[tensor]; }
  // By tensor: the expected values of the rows, one row after the other.
  const ExpectedOutputs& outputs() const { return outputs_; }

 private:
  std::size_t index_of(std::string_view name, Role unwanted, const char* kind) const;

  const CallUnit& unit_;
  std::vector<RowsOf> shapes_;  // by tensor
  std::vector<std::vector<std::int64_t>> rows_;
  ExpectedOutputs outputs_;
  std::vector<std::vector<double>> inputs_;  // by tensor: the rows that were requested last
};

}  // namespace redzone::trial
