// The reference of some rows of each output of a call.
#pragma once

#include <redzone/target.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "trial/reference_memory.h"
#include "trial/reference_values.h"
#include "trial/trial_state.h"

namespace redzone::trial {

// `wanted` of `rows` rows, ascending: the first, the last (if more than two are wanted), and one of
// each of equal parts of the others; all rows if there are no more. The same for the same seed.
std::vector<std::int64_t> choose_rows(std::int64_t rows, int wanted, std::uint64_t seed);

// One call for Target::reference_rows(). Which rows it asks for depends on the call alone, so that
// equal calls are compared in equal rows. `unit` must outlive it.
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

  // Of the tensor with this index in the spec: its shape, the rows that are asked for.
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
  std::vector<std::vector<double>> inputs_;  // by tensor: the rows that were asked for last
};

}  // namespace redzone::trial
