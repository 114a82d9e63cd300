// The reference of some rows of each output of a call.
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

// Rows of a tensor whose dims but the last have these sizes: `wanted` of them, ascending; all if
// there are no more. The first and the last row; every second of the others has the last index of
// one of the dims, because tiles that are cut off lie there. The same for the same seed.
std::vector<std::int64_t> choose_rows(std::span<const std::int64_t> outer, int wanted,
                                      std::uint64_t seed);

// Host memory in bytes for a sample of the call's outputs, without the inputs that are asked for.
std::size_t sample_bytes(const CallUnit& unit, int rows_of_each);

// One call for Target::reference_rows(). Which rows it asks for depends on all that a plan says of
// the call, so that equal calls are compared in equal rows, and others in others. `unit` must
// outlive it.
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
