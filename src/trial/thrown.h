// How a fault names an exception: by its type and text, so that two causes are two findings.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace redzone::trial {

struct Thrown {
  std::string code;  // Fault::code
  std::string text;  // for people
};

// The exception that is being handled: to be called within a catch block. Its code is "exception:
// TYPE: TEXT" with the beginning of the first line of the text, and '#' for numbers, lists of them
// and paths, which may depend on the call; of std::bad_alloc, which comes up anywhere, the type
// alone.
Thrown thrown_now();

// Thrown in place of an exception of another language, which has a code already.
class CodedError : public std::runtime_error {
 public:
  CodedError(std::string code, const std::string& text)
      : std::runtime_error(text), code_(std::move(code)) {}
  const std::string& code() const { return code_; }

 private:
  std::string code_;
};

}  // namespace redzone::trial
