// How a process in which an RZ_CHECK failed ends: it prints a line that begins with this text to
// stderr and exits with kCheckFailedExit. The exit code alone is not evidence, because code under
// test may exit with the same code.
#pragma once

#include <string_view>

namespace redzone {

inline constexpr std::string_view kCheckFailedText = "redzone: internal check failed: ";

}  // namespace redzone
