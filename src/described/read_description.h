// Reads the tables that all descriptions have: dims, knobs, constraints, tensors. All functions
// throw FieldError.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/table_reader.h"
#include "described/description.h"

namespace redzone::described {

// What one kind of description allows and another does not.
struct Rules {
  // Values of knobs that are text must be identifiers.
  bool knob_texts_are_names = true;
  // The least extent of a dim.
  std::int64_t least_extent = 1;
  // An output may be marked as `returned`.
  bool returns = false;
  // Elements may be complex.
  bool complex_elements = false;
  // Read or check what only this kind of description has, before the rest of the table is read.
  std::function<void(TableReader&)> of_knob = {}, of_tensor = {};
};

// `name`, `doc` and `deterministic`.
void read_head(TableReader& root, Description& description);

// The lists `dim`, `knob`, `constraint` and `tensor`, and `work`.
void read_lists(TableReader& root, const Rules& rules, Description& description);

// `abs` and `rel`, and nothing else.
Tolerance read_tolerance(TableReader& f);

// The names in expressions over dims and knobs: of a knob of texts, K_is_V for each value V that is
// an identifier. All are distinct.
std::vector<std::string> numbers_of(const TableReader& root, const Description& description);

}  // namespace redzone::described
