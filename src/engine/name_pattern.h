// Patterns of target names, as a shell has them: "chunk_*".
#pragma once

#include <string>

#include "redzone/spec.h"

namespace redzone::engine {

// Whether this is a pattern and no name.
bool is_pattern(const std::string& text);

// Whether a target has such a name. A puzzle or a twin needs more: what comes before the first
// wildcard begins with its family ("puzzle" of "puzzle.wide"), since they have planted bugs and are
// no part of "all". A selftest never fits.
bool fits(const std::string& pattern, const std::string& name, Category category);

}  // namespace redzone::engine
