// A shell script that shows a finding of a program.
#pragma once

#include <string>
#include <string_view>

#include "core/finding.h"

namespace redzone::guard {

// For any POSIX shell: it goes to the folder, sets the variables that were stored, unsets those
// that were not set, and runs the program under the guard with `flags`. $REDZONE names another
// binary. The finding must be of a program.
std::string script_of(const redzone::Finding& finding, std::string_view flags);

// One word of a shell that yields exactly these bytes, which must not hold a zero.
std::string sh_word(std::string_view bytes);

}  // namespace redzone::guard
