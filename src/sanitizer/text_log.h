// Parses compute-sanitizer's growing text output into a stream of records.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/trial.h"
#include "sanitizer/text_record.h"

namespace redzone::sanitizer {

// Holds at most one block and one line, and the records not yet taken. Overlong lines and blocks
// are cut, so that memory is bounded by the number of records.
class TextLog {
 public:
  void append(std::string_view bytes);
  // The complete records since the last call, in order. With `open`, also the last one, whose end
  // has not been seen; the rest of that block is lost.
  std::vector<SanitizerRecord> take(bool open);

  // True once the banner was read: the tool runs.
  bool began() const { return began_; }
  // The tool's message that it does not work, which makes its records worthless; "" if there is
  // none.
  const std::string& problem() const { return problem_; }

 private:
  void line(std::string_view text);
  void end_block();

  std::string partial_;  // an unfinished line
  std::string head_;     // of the open block; "" if there is none
  std::vector<std::string> lines_;
  std::vector<SanitizerRecord> done_;
  bool began_ = false;
  std::string problem_;
};

}  // namespace redzone::sanitizer
