// A shell script that reproduces a finding of a program.
#pragma once

#include <string>
#include <string_view>

#include "core/finding.h"

namespace redzone::guard {

// The script, for any POSIX shell, changes to the folder, sets the stored variables, unsets those
// that were not set, and runs the program under the guard with `flags`. $REDZONE names another
// binary. The finding must be a finding of a program.
std::string script_of(const redzone::Finding& finding, std::string_view flags);

// A shell word that yields exactly these bytes, which must not contain a zero byte.
std::string sh_word(std::string_view bytes);

}  // namespace redzone::guard
