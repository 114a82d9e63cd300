// toml++, and the one way from text to a TOML tree: every plan, every [expect] table and every
// package description goes through parse_toml(). No other file includes toml++, so that there is
// one configuration of it in the program.
//
// toml++ 3.3 does not bound how many parts a dotted key has, and its trees are destroyed
// recursively: a text of 40 KB could exhaust the stack. It searches all tables that dotted keys
// made at each further one, so that their number is bounded, too. Some texts that are no TOML also
// meet an assertion of its parser before its error. Both are errors here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace redzone {

// Bounds of a text. The largest plan that print_plan() writes stays far below them.
inline constexpr std::size_t kMostTomlBytes = std::size_t{8} << 20;
inline constexpr std::size_t kMostKeyParts = 16;  // of a dotted key or of a table's header
inline constexpr std::size_t kMostDots = 16384;   // outside of strings and comments

// The text is no TOML, and toml++ does not say where.
struct TomlRejected : std::runtime_error {
  TomlRejected() : std::runtime_error("no TOML") {}
};

// A function, since toml++ also asserts in noexcept functions, where compilers warn of a throw.
[[noreturn]] inline void reject_toml() {
  throw TomlRejected();
}

}  // namespace redzone

#define TOML_ASSERT(expression) ((expression) ? static_cast<void>(0) : ::redzone::reject_toml())
// Arrays and inline tables within each other.
#define TOML_MAX_NESTED_VALUES 32
#include <toml++/toml.h>

namespace redzone {

// Why a text was refused, and where: from 1 on, 0 where it is not known.
struct TomlError {
  std::string what;
  std::uint32_t line = 0, column = 0;

  // "where:3:8", or "where" alone.
  std::string at(std::string_view where) const;
};

// The tree is at most (kMostKeyParts + 1) * TOML_MAX_NESTED_VALUES levels deep, so that whoever
// walks it may recurse.
tl::expected<toml::table, TomlError> parse_toml(std::string_view text);

}  // namespace redzone
