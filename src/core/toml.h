// toml++ as this project uses it. Some texts that are no TOML meet an assertion of its parser (3.3,
// parse_key()) before its error: here they are an error, too, and no end of the process. One header
// for all, so that there is one definition of the parser in the program.
#pragma once

#include <stdexcept>

namespace redzone {

// The text is no TOML, and toml++ does not say where.
struct TomlRejected : std::runtime_error {
  TomlRejected() : std::runtime_error("no TOML") {}
};

}  // namespace redzone

#define TOML_ASSERT(expression) \
  ((expression) ? static_cast<void>(0) : throw ::redzone::TomlRejected())
#include <toml++/toml.h>
