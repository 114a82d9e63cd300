// Field tables of the parts of a finding that have the same names in the columns of stores and in
// `--json`. A new member also needs a column (store/schema.cpp).
#pragma once

#include "core/attribution.h"
#include "core/environment.h"
#include "core/field_table.h"

namespace redzone {

constexpr auto field_table(std::type_identity<Environment>) {
  using E = Environment;
  return fields<E>(field("device", &E::device), field("driver", &E::driver),
                   field("compute_capability", &E::compute_capability),
                   field("toolkit", &E::toolkit), field("nvrtc", &E::nvrtc),
                   field("host", &E::host), field("code_hash", &E::code_hash),
                   field("redzone_version", &E::redzone_version), field("origin", &E::origin));
}

constexpr auto field_table(std::type_identity<Attribution>) {
  using A = Attribution;
  return fields<A>(field("source", &A::source), field("call", &A::call),
                   field("kernel", &A::kernel), field("access", &A::access),
                   field("buffer", &A::buffer), field("side", &A::side),
                   field("location", &A::location), field("detail", &A::detail));
}

}  // namespace redzone
