#include "trial/reference_sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "device/buffer_math.h"
#include "trial/reference_values.h"

namespace redzone::trial {

namespace {

std::uint64_t add_to_hash(std::uint64_t hash, std::uint64_t value) {
  return device::mix(hash ^ device::mix(value));
}
std::uint64_t add_to_hash(std::uint64_t hash, std::string_view text) {
  for (const char c : text) hash = add_to_hash(hash, static_cast<unsigned char>(c));
  return add_to_hash(hash, text.size());
}

std::uint64_t add_to_hash(std::uint64_t hash, const Layout& layout) {
  for (const std::int64_t value :
       {layout.row_padding_elems, std::int64_t{layout.transposed}, layout.offset_elems,
        layout.unit_stride.value_or(INT64_MIN), std::int64_t{layout.hnd}, layout.slice_elems,
        layout.broadcast_dim, layout.reversed_dim})
    hash = add_to_hash(hash, static_cast<std::uint64_t>(value));
  return hash;
}

// A seed from everything in the plan's call and from the tensor's name.
std::uint64_t seed_of(const Call& call, std::string_view tensor) {
  std::uint64_t hash = add_to_hash(call.seed, tensor);
  for (const auto& [name, value] : call.dims)
    hash = add_to_hash(add_to_hash(hash, name), static_cast<std::uint64_t>(value));
  for (const auto& [name, value] : call.config) {
    hash = add_to_hash(hash, name);
    if (const auto* number = std::get_if<std::int64_t>(&value))
      hash = add_to_hash(hash, static_cast<std::uint64_t>(*number));
    else
      hash = add_to_hash(hash, std::get<std::string>(value));
  }
  for (const auto& [name, layout] : call.layouts)
    hash = add_to_hash(add_to_hash(hash, name), layout);
  return hash;
}

std::int64_t row_count(std::span<const std::int64_t> outer) {
  std::int64_t rows = 1;
  for (const std::int64_t size : outer) rows *= size;
  return rows;
}

// A random row. Its index in the dim `edge` is the last one, if there is such a dim.
std::int64_t random_row(std::span<const std::int64_t> outer, std::size_t edge, std::uint64_t seed) {
  std::int64_t row = 0;
  for (std::size_t d = 0; d < outer.size(); ++d) {
    const auto random = device::random_word(seed, static_cast<std::int64_t>(d)) >> 1;
    const std::int64_t at = edge == d ? outer[d] - 1 : static_cast<std::int64_t>(random) % outer[d];
    row = row * outer[d] + at;
  }
  return row;
}

}  // namespace

std::vector<std::int64_t> choose_rows(std::span<const std::int64_t> outer, int wanted,
                                      std::uint64_t seed) {
  const std::int64_t rows = row_count(outer);
  std::set<std::int64_t> chosen;
  if (rows > wanted) chosen = {0, rows - 1};
  // A try may find a row that is already chosen; a few tries per row suffice unless there are
  // hardly more rows than wanted.
  constexpr std::uint64_t kTries = 4;
  for (std::uint64_t i = 0; rows > wanted && i < kTries * static_cast<std::uint64_t>(wanted) &&
                            std::cmp_less(chosen.size(), wanted);
       ++i) {
    const std::size_t edge = i % 2 == 0 ? i / 2 % outer.size() : outer.size();
    chosen.insert(random_row(outer, edge, add_to_hash(seed, i)));
  }
  for (std::int64_t row = 0; row < rows && std::cmp_less(chosen.size(), wanted); ++row)
    chosen.insert(row);
  return {chosen.begin(), chosen.end()};
}

std::size_t sample_bytes(const CallUnit& unit, int rows_of_each) {
  std::size_t values = 0;
  for (const TensorBuffer& tensor : unit.tensors) {
    if (tensor.role == Role::in) continue;
    const RowsOf shape(tensor);
    const std::int64_t rows = std::min<std::int64_t>(shape.rows(), rows_of_each);
    values += static_cast<std::size_t>(rows * shape.length());
  }
  return 3 * values * sizeof(double);  // expected and found values, and a row before the call
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
    if (tensor.role == Role::in) continue;
    const RowsOf& rows = shapes_[i];
    const Shape& shape = tensor.view.shape;
    const std::size_t outer = shape.empty() || rows.rows() == 0 ? 0 : shape.size() - 1;
    if (rows.rows() > 0)
      rows_[i] = choose_rows(std::span(shape).first(outer), rows_of_each,
                             seed_of(*unit.item->call, tensor.spec->name));
    const auto length = static_cast<std::size_t>(rows.length());
    outputs_[i].assign(rows_[i].size() * length, 0.0);
    if (tensor.role != Role::inout) continue;
    for (std::size_t r = 0; r < rows_[i].size(); ++r)
      rows.make(rows_[i][r], 1, outputs_[i].data() + r * length);
  }
}

std::size_t RowsCall::index_of(std::string_view name, Role unwanted, const char* kind) const {
  for (std::size_t i = 0; i < unit_.tensors.size(); ++i) {
    if (unit_.tensors[i].spec->name != name) continue;
    if (unit_.tensors[i].role != unwanted) return i;
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
