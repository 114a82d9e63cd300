// Where a Python process was when a fatal signal ended it.
#pragma once

#include <string>
#include <string_view>

namespace redzone::exec {

// "my.py:12 in twice": the innermost frame that is not of an installed module, in what Python's
// faulthandler printed last; "" if it printed nothing.
std::string python_frame(std::string_view output);

}  // namespace redzone::exec
