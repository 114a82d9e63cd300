// The environment of a process that is about to be started.
#pragma once

#include <string>
#include <vector>

namespace redzone::exec {

// The environment of this process with `variables` ("NAME=value") added, which replace variables of
// the same name; for execve(). The result borrows from both.
std::vector<char*> environment_with(std::vector<std::string>& variables);

}  // namespace redzone::exec
