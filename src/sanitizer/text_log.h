// Parses compute-sanitizer's growing text output into a stream of records.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/trial.h"
#include "sanitizer/text_record.h"

namespace redzone::sanitizer {

// Holds at most one block, one line, and the records not yet taken. Overlong lines and blocks are
// truncated, so that the number of records bounds the memory.
class TextLog {
 public:
  void append(std::string_view bytes);
  // Returns the complete records since the last call, in order. If `open`, also the last record,
  // whose end has not been read; the rest of its block is lost.
  std::vector<SanitizerRecord> take(bool open);

  // True once the banner was read: the tool runs.
  bool began() const { return began_; }
  // The tool's message that it does not work, which makes its records worthless; "" if there is no
  // such message.
  const std::string& problem() const { return problem_; }

 private:
  void line(std::string_view text);
  void end_block();

  std::string partial_;  // an unfinished line
  std::string head_;     // head of the open block; "" if none is open
  std::vector<std::string> lines_;
  std::vector<SanitizerRecord> done_;
  bool began_ = false;
  std::string problem_;
};

}  // namespace redzone::sanitizer
