// Names that no two stores give twice. Internal to the store.
#pragma once

#include <string>

namespace redzone::store {

// 32 random hex digits.
std::string new_uid();

}  // namespace redzone::store
