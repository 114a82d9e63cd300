// The Python frame in which a fatal signal ended the process.
#pragma once

#include <string>
#include <string_view>

namespace redzone::exec {

// The innermost frame outside of installed modules, for example "my.py:12 in twice", in the latest
// output of Python's faulthandler. If all frames are in installed modules, the innermost of them;
// "" without such output.
std::string python_frame(std::string_view output);

}  // namespace redzone::exec
