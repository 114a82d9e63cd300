// The program that the tests of `redzone guard` run by a shell.
#pragma once

#include <string>

namespace redzone::e2e {

// As a word of a shell.
inline const std::string kQuotedProgram = "'" HOST_PROGRAM "'";

}  // namespace redzone::e2e
