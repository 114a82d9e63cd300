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

// Differences between the kinds of descriptions.
struct Rules {
  // Values of knobs that are text must be identifiers.
  bool knob_texts_are_names = true;
  // The smallest extent of a dim.
  std::int64_t least_extent = 1;
  // An output may be marked as `returned`.
  bool returns = false;
  // Elements may be complex.
  bool complex_elements = false;
  // Called before the rest of a table is read, to read or check fields of one kind of description
  // only.
  std::function<void(TableReader&)> of_knob = {}, of_tensor = {};
};

// Reads the fields before the lists: `name`, `doc`, `deterministic` and the optional flags.
void read_head(TableReader& root, Description& description);

// Reads the lists `dim`, `knob`, `constraint` and `tensor`, and `work`.
void read_lists(TableReader& root, const Rules& rules, Description& description);

// Reads `abs` and `rel`, and accepts no other field.
Tolerance read_tolerance(TableReader& f);

// The names that expressions over dims and knobs can use. A knob of strings contributes K_is_V for
// each value V that is an identifier. All names are distinct.
std::vector<std::string> numbers_of(const TableReader& root, const Description& description);

}  // namespace redzone::described
