// Converts an exception to a fault's code, from its type and text, so that two causes are two
// findings.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace redzone::trial {

struct Thrown {
  std::string code;  // Fault::code
  std::string text;  // for people
};

// The exception that is being handled; call it in a catch block. The code is "exception: TYPE:
// TEXT" with the beginning of the first line of the text. '#' replaces numbers, lists of numbers
// and paths, which may depend on the call. For std::bad_alloc, which can occur anywhere, the code
// has only the type.
Thrown thrown_now();

// Thrown in place of an exception of another language, for which a code is already known.
class CodedError : public std::runtime_error {
 public:
  CodedError(std::string code, const std::string& text)
      : std::runtime_error(text), code_(std::move(code)) {}
  const std::string& code() const { return code_; }

 private:
  std::string code_;
};

}  // namespace redzone::trial
