// The tail of a worker's stdout and stderr.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace redzone::exec {

// Keeps the last kKeptBytes; the rest is counted and dropped, so a flood costs no memory.
class OutputTail {
 public:
  static constexpr std::size_t kKeptBytes = 16 * 1024;

  // Reads what is available from a non-blocking descriptor, up to a bound per call. False at end of
  // file.
  bool drain(int fd);
  void append(const char* data, std::size_t n);
  // Discards the kept bytes, because later output belongs to another trial.
  void clear() { kept_.clear(); }

  bool holds(std::string_view text) const { return kept_.find(text) != std::string::npos; }
  // At most the last `most_bytes`, from the start of a line if possible, with other than printable
  // ASCII characters replaced.
  std::string text(std::size_t most_bytes = 2000) const;
  std::uint64_t total_bytes() const { return total_bytes_; }

 private:
  std::string kept_;
  std::uint64_t total_bytes_ = 0;
};

}  // namespace redzone::exec
