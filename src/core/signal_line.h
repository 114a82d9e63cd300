// A line of text that a signal handler may make and print: it takes no memory and no locks.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace redzone {

// What does not fit is left out.
class SignalLine {
 public:
  SignalLine& operator<<(std::string_view text) {
    for (const char c : text)
      if (size_ + 1 < sizeof text_) text_[size_++] = c;
    return *this;
  }
  SignalLine& operator<<(std::int64_t value) {
    char digits[24];
    char* at = digits + sizeof digits;
    const bool negative = value < 0;
    std::uint64_t rest =
        negative ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    do {
      *--at = static_cast<char>('0' + rest % 10);
      rest /= 10;
    } while (rest != 0);
    if (negative) *--at = '-';
    return *this << std::string_view(at, static_cast<std::size_t>(digits + sizeof digits - at));
  }

  std::string_view text() const { return {text_, size_}; }

  // Prints the text and a line feed in one piece.
  void print(int fd) {
    text_[size_] = '\n';
    const ssize_t written = ::write(fd, text_, size_ + 1);
    static_cast<void>(written);  // a failed write cannot be handled here
  }

 private:
  std::size_t size_ = 0;
  char text_[2048 + 1] = {};
};

}  // namespace redzone
