// True if `value` is one of the enumerators of its type. A spec comes from a plugin, so an enum in
// it may hold any number.
#pragma once

#include <redzone/spec.h>

#include <algorithm>

#include "core/spec_names.h"

namespace redzone {

template <NamedEnum E>
bool is_known(E value) {
  const auto all = enumerators<E>();
  return std::find(all.begin(), all.end(), value) != all.end();
}

inline bool is_known(Fill::Kind kind) {
  switch (kind) {
    case Fill::Kind::uniform:
    case Fill::Kind::integers:
    case Fill::Kind::offsets:
    case Fill::Kind::constant:
    case Fill::Kind::sums:
    case Fill::Kind::special_values:
      return true;
  }
  return false;
}

inline bool is_known(Constraint::Kind kind) {
  switch (kind) {
    case Constraint::Kind::divides:
    case Constraint::Kind::at_most:
    case Constraint::Kind::predicate:
      return true;
  }
  return false;
}

}  // namespace redzone
