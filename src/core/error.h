// Errors of the harness and of its user. What a target does wrong is data, never one of these.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace redzone {

// usage: the user can mend it (exit 2). harness: Redzone could not do its job (exit 3). unsound: a
// store is damaged (exit 5).
enum class ErrorKind : std::uint8_t { usage, harness, unsound };

struct Error {
  ErrorKind kind = ErrorKind::harness;
  std::string message;  // one line: what, where, and what would be right
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

// How a process ends in which an RZ_CHECK failed (EX_SOFTWARE of sysexits.h). No signal: in a
// worker that would look like a fault of the kernel.
inline constexpr int kCheckFailedExit = 70;

// For what cannot happen: prints and ends the process, in release builds too.
[[noreturn]] void check_failed(const char* expression, const char* file, int line);

}  // namespace redzone

#define RZ_CHECK(expression) \
  ((expression) ? void(0) : ::redzone::check_failed(#expression, __FILE__, __LINE__))
