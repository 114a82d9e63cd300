// The environment of a process that is about to be started.
#pragma once

#include <string>
#include <vector>

namespace redzone::exec {

// The variables of this process with those given as "NAME=value", in the place of those of that
// name; for execve(). Borrows both.
std::vector<char*> environment_with(std::vector<std::string>& variables);

}  // namespace redzone::exec
