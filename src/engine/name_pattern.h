// Patterns of target names with shell wildcards: "chunk_*".
#pragma once

#include <string>

#include "redzone/spec.h"

namespace redzone::engine {

// True if the text is a pattern rather than a name.
bool is_pattern(const std::string& text);

// True if the target's name matches the pattern. For a puzzle or a twin, the part before the first
// wildcard must also begin with its family ("puzzle" of "puzzle.wide"), since these targets have
// planted bugs and are not part of "all". A selftest never matches.
bool fits(const std::string& pattern, const std::string& name, Category category);

}  // namespace redzone::engine
