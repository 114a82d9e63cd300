// Errors of the harness and of its user. A failure of a target is data, never an Error.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace redzone {

// usage: the user can correct it (exit 2). harness: Redzone could not do its job (exit 3). unsound:
// a store is damaged (exit 5).
enum class ErrorKind : std::uint8_t { usage, harness, unsound };

struct Error {
  ErrorKind kind = ErrorKind::harness;
  std::string message;  // one line: what is wrong, where, and what would be right
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> usage_error(std::string message) {
  return tl::unexpected<Error>(Error{ErrorKind::usage, std::move(message)});
}
inline tl::unexpected<Error> harness_error(std::string message) {
  return tl::unexpected<Error>(Error{ErrorKind::harness, std::move(message)});
}
inline tl::unexpected<Error> unsound_error(std::string message) {
  return tl::unexpected<Error>(Error{ErrorKind::unsound, std::move(message)});
}

// Exit status of a process in which an RZ_CHECK failed (EX_SOFTWARE of sysexits.h). Not a signal,
// because a signal in a worker would look like a fault of the kernel.
inline constexpr int kCheckFailedExit = 70;

// For conditions that must not occur: prints and ends the process, in release builds too.
[[noreturn]] void check_failed(const char* expression, const char* file, int line);

}  // namespace redzone

#define RZ_CHECK(expression) \
  ((expression) ? void(0) : ::redzone::check_failed(#expression, __FILE__, __LINE__))

// Returns the error of `expression`, a Result or another tl::expected, from the function; a value
// is discarded.
//   RZ_TRY(store.update(finding));
#define RZ_TRY(...)                                         \
  do {                                                      \
    if (auto rz_tried = (__VA_ARGS__); !rz_tried)           \
      return ::tl::unexpected(std::move(rz_tried).error()); \
  } while (false)

// Like RZ_TRY, but assigns the value to `declaration`. Expands to two statements, so it must not
// follow an `if` without braces.
//   RZ_TRY_ASSIGN(const Plan plan, parse_plan(text, file));
#define RZ_TRY_ASSIGN(declaration, ...) \
  RZ_TRY_ASSIGN_AS(RZ_JOINED(rz_tried_, __LINE__), declaration, __VA_ARGS__)
#define RZ_TRY_ASSIGN_AS(tried, declaration, ...)                \
  auto tried = (__VA_ARGS__);                                    \
  if (!tried) return ::tl::unexpected(std::move(tried).error()); \
  declaration = *std::move(tried)
#define RZ_JOINED(a, b) RZ_JOINED_AS(a, b)
#define RZ_JOINED_AS(a, b) a##b
