// Where the plugin of a finding lay, if it was not one of those that ship: what its replay needs.
#pragma once

#include <string>
#include <string_view>

#include "store/finding.h"

namespace redzone::store {

// For Environment::toolkit: what made the code of a plugin, and its file.
std::string toolkit_of_plugin(std::string_view made_by, std::string_view file);
// The file that is named there; "" for a plugin that ships, and for a package.
std::string plugin_of(const Environment& environment);

}  // namespace redzone::store
