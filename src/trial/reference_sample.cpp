#include "trial/reference_sample.h"

#include <fmt/format.h>

#include "device/buffer_math.h"
#include "trial/reference_values.h"

namespace redzone::trial {

std::vector<std::int64_t> choose_rows(std::int64_t rows, int wanted, std::uint64_t seed) {
  std::vector<std::int64_t> chosen;
  if (rows <= wanted) {
    for (std::int64_t row = 0; row < rows; ++row) chosen.push_back(row);
    return chosen;
  }
  // Both ends where there is room for a row between them.
  const std::int64_t ends = wanted > 2 ? 1 : 0;
  const std::int64_t between = rows - 2 * ends;
  const std::int64_t parts = wanted - 2 * ends;
  // In 128 bits, so that the product cannot overflow. No part is empty, because rows > wanted.
  const auto border = [&](std::int64_t part) {
    return ends + static_cast<std::int64_t>(static_cast<__int128>(between) * part / parts);
  };
  if (ends > 0) chosen.push_back(0);
  for (std::int64_t part = 0; part < parts; ++part) {
    const auto random = static_cast<std::int64_t>(device::random_word(seed, part) >> 1);
    chosen.push_back(border(part) + random % (border(part + 1) - border(part)));
  }
  if (ends > 0) chosen.push_back(rows - 1);
  return chosen;
}

RowsCall::RowsCall(const CallUnit& unit, int rows_of_each)
    : unit_(unit),
      rows_(unit.tensors.size()),
      outputs_(unit.tensors.size()),
      inputs_(unit.tensors.size()) {
  shapes_.reserve(unit.tensors.size());
  for (const TensorBuffer& tensor : unit.tensors) shapes_.emplace_back(tensor);
  for (std::size_t i = 0; i < unit.tensors.size(); ++i) {
    const TensorBuffer& tensor = unit.tensors[i];
    if (tensor.spec->role == Role::in) continue;
    const RowsOf& rows = shapes_[i];
    rows_[i] = choose_rows(rows.rows(), rows_of_each,
                           device::mix(unit.item->call->seed + static_cast<std::uint64_t>(i)));
    const auto length = static_cast<std::size_t>(rows.length());
    outputs_[i].assign(rows_[i].size() * length, 0.0);
    if (tensor.spec->role != Role::inout) continue;
    for (std::size_t r = 0; r < rows_[i].size(); ++r)
      rows.make(rows_[i][r], 1, outputs_[i].data() + r * length);
  }
}

std::size_t RowsCall::index_of(std::string_view name, Role unwanted, const char* kind) const {
  for (std::size_t i = 0; i < unit_.tensors.size(); ++i) {
    if (unit_.tensors[i].spec->name != name) continue;
    if (unit_.tensors[i].spec->role != unwanted) return i;
    throw SpecError(fmt::format("tensor '{}' is not an {}", name, kind));
  }
  throw SpecError(fmt::format("no tensor '{}'", name));
}

std::span<const std::int64_t> RowsCall::rows(std::string_view output) const {
  return rows_[index_of(output, Role::in, "output")];
}

std::span<double> RowsCall::output(std::string_view name, std::size_t i) {
  const std::size_t tensor = index_of(name, Role::in, "output");
  const std::size_t rows = rows_[tensor].size();
  if (i >= rows)
    throw SpecError(fmt::format("row {} of the {} that are asked for of '{}'", i, rows, name));
  const std::size_t length = outputs_[tensor].size() / rows;
  return std::span(outputs_[tensor]).subspan(i * length, length);
}

std::span<const double> RowsCall::input(std::string_view name, std::int64_t first_row,
                                        std::int64_t count) {
  const std::size_t i = index_of(name, Role::out, "input");
  const RowsOf& rows = shapes_[i];
  if (first_row < 0 || count < 0 || first_row > rows.rows() - count)
    throw SpecError(fmt::format("{} rows from row {} on of '{}', which has {}", count, first_row,
                                name, rows.rows()));
  inputs_[i].resize(static_cast<std::size_t>(count * rows.length()));
  rows.make(first_row, count, inputs_[i].data());
  return inputs_[i];
}

double RowsCall::input_at(std::string_view name, std::int64_t row, std::int64_t column) {
  const RowsOf& rows = shapes_[index_of(name, Role::out, "input")];
  if (row < 0 || row >= rows.rows() || column < 0 || column >= rows.length())
    throw SpecError(fmt::format("element {} of row {} of '{}', which has {} rows of {}", column,
                                row, name, rows.rows(), rows.length()));
  return rows.make_one(row, column);
}

}  // namespace redzone::trial
