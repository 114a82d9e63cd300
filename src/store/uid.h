// Globally unique names. Internal to the store.
#pragma once

#include <string>

namespace redzone::store {

// 32 random hex digits.
std::string new_uid();

}  // namespace redzone::store
