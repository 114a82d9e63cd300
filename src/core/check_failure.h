// How a process ends in which an RZ_CHECK failed: with kCheckFailedExit, after a line that begins
// with this text on stderr. The code alone proves nothing, because code under test may exit with
// it.
#pragma once

#include <string_view>

namespace redzone {

inline constexpr std::string_view kCheckFailedText = "redzone: internal check failed: ";

}  // namespace redzone
