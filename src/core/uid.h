// Globally unique names.
#pragma once

#include <string>

namespace redzone {

// 32 random hex digits.
std::string new_uid();

}  // namespace redzone
