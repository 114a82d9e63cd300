// Determines which call a late fault belongs to, without synchronizing.
//
// A device that reports a fault only at the next synchronization does not name the kernel.
// Therefore a progress marker is enqueued after the last work of a call on each stream, and the
// device writes the marker when it reaches it. A marker is only enqueued once another call follows,
// so that a lone call and blocking launches have no overhead. After a fault, the first work of a
// stream whose marker was not written is unfinished.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redzone::trial {

class ProgressMarkers {
 public:
  struct Marker {
    int stream = 0;
    std::uint32_t number = 0;  // from 1, growing within a trial
  };
  // `call` -1: there is no unfinished work.
  struct Attributed {
    std::int32_t call = -1;
    std::string kernel;  // "" if the call launched several, or another stream is a candidate
    std::string note;    // uncertainty of the attribution, for people; may be empty
  };

  // Starts a new trial: numbers begin at 1 again.
  void begin();
  // Call when all enqueued work is complete.
  void clear() { count_ = 0; }

  // `call` has enqueued work on `stream`: a kernel, or "" for work without a name.
  void add(int stream, std::int32_t call, std::string_view kernel);
  // The markers to enqueue now, before work of `next_call`. Valid until the next call of this
  // class.
  std::span<const Marker> due(std::int32_t next_call);

  // `reached(stream)` returns the last marker that the device wrote for the stream, 0 for none. If
  // several streams have unfinished work, the fault is attributed to the work that was enqueued
  // first.
  Attributed attribute(const std::function<std::uint32_t(int stream)>& reached) const;

 private:
  // The work of one call on one stream.
  struct Work {
    int stream = 0;
    std::int32_t call = -1;
    std::uint32_t number = 0;          // 0: no marker yet
    std::vector<std::string> kernels;  // unique names, the first kMostKernels
  };

  std::vector<Work> work_;  // in order of their first launch; entries from `count_` on are spare
  std::size_t count_ = 0;
  std::vector<Marker> due_;
  std::uint32_t last_number_ = 0;
};

}  // namespace redzone::trial
