// Which call a late fault belongs to, without synchronizing.
//
// A device that reports a fault only at the next synchronization does not say whose kernel it was.
// So behind the last work of a call on each stream a mark is enqueued, which the device writes when
// it gets there; but only once another call follows, so that a lone call and blocking launches pay
// nothing. After a fault, the first work of a stream whose mark is missing was not finished.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redzone::trial {

class ProgressMarks {
 public:
  struct Mark {
    int stream = 0;
    std::uint32_t number = 0;  // from 1, growing within a trial
  };
  // No call when nothing is unfinished.
  struct Culprit {
    std::int32_t call = -1;
    std::string kernel;  // "" when the call has launched several, or another stream is suspect, too
    std::string note;    // of what is not certain; for people; may be empty
  };

  // A new trial: numbers begin again.
  void begin();
  // All that was enqueued is done.
  void clear() { count_ = 0; }

  // `call` has enqueued on `stream`: a kernel, or "" for what has no name.
  void add(int stream, std::int32_t call, std::string_view kernel);
  // The marks to enqueue now, before work of `next_call`. Valid until the next call of this class.
  std::span<const Mark> due(std::int32_t next_call);

  // `reached(stream)`: the last mark that the device wrote there, 0 for none. Of several streams
  // with unfinished work, the one whose work was enqueued first is blamed.
  Culprit culprit(const std::function<std::uint32_t(int stream)>& reached) const;

 private:
  // The work of one call on one stream.
  struct Work {
    int stream = 0;
    std::int32_t call = -1;
    std::uint32_t number = 0;          // 0: no mark behind it yet
    std::vector<std::string> kernels;  // each name once, the first kMostKernels
  };

  std::vector<Work> work_;  // in order of their first launch; those past `count_` are spare
  std::size_t count_ = 0;
  std::vector<Mark> due_;
  std::uint32_t last_number_ = 0;
};

}  // namespace redzone::trial
