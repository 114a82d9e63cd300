// compute-sanitizer's text output as a stream of records, while it grows.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/trial.h"
#include "sanitizer/text_record.h"

namespace redzone::sanitizer {

// Holds one block and one line at most, and the records that nobody took; lines and blocks beyond a
// sane length are cut, so that memory is bounded by the number of records.
class TextLog {
 public:
  void append(std::string_view bytes);
  // The complete records since the last call, in order. With `open`, also the last one, whose end
  // has not been seen: what is behind it in the stream is lost.
  std::vector<SanitizerRecord> take(bool open);

  // True once the banner was seen: the tool is at work.
  bool began() const { return began_; }
  // What the tool said of itself that makes the rest worthless; "" while there is nothing.
  const std::string& problem() const { return problem_; }

 private:
  void line(std::string_view text);
  void end_block();

  std::string partial_;  // a line that has not ended
  std::string head_;     // of the open block; "" when there is none
  std::vector<std::string> lines_;
  std::vector<SanitizerRecord> done_;
  bool began_ = false;
  std::string problem_;
};

}  // namespace redzone::sanitizer
