// The log file of a running compute-sanitizer.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "sanitizer/text_log.h"

namespace redzone::sanitizer {

// Reads the text appended since the last read. Measured: after a synchronization of the context the
// file contains all records of the earlier launches, with every tool.
class LogFile {
 public:
  explicit LogFile(std::filesystem::path path) : path_(std::move(path)) {}
  LogFile(LogFile&& other) = delete;
  ~LogFile();

  // Like TextLog::take(). Never blocks. Reads at most kMostBytes at a time; more new text, a
  // missing file, or a file that has become shorter is a problem.
  std::vector<SanitizerRecord> read(bool open);
  // Explains why the records are incomplete; "" if they are complete.
  std::string problem() const;

  static constexpr std::size_t kMostBytes = 64u << 20;

 private:
  void fail(std::string what);

  std::filesystem::path path_;
  int fd_ = -1;
  std::size_t offset_ = 0;
  TextLog log_;
  std::string problem_;
};

}  // namespace redzone::sanitizer
