// Records which launches precede the program's events, so that a wait for an event completes them.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "interpose/driver_abi.h"

namespace redzone::interpose {

// Not thread-safe: LaunchLog locks.
class EventMarks {
 public:
  // The event follows all work that the stream had received when `until` launch calls had returned.
  // `thread`: for kThreadStream, the thread whose default stream it is.
  struct Mark {
    CuContext context = nullptr;
    CuStream stream = nullptr;
    std::uint32_t thread = 0;
    std::uint64_t until = 0;
  };

  // Call around the driver's call that records the event. If two such calls overlap, it is unknown
  // which one counts, so the event gets no mark.
  void record_begins(CuEvent event);
  // An empty mark means that the call failed, or that the record is a node of a graph.
  void record_ends(CuEvent event, const std::optional<Mark>& mark);
  std::optional<Mark> mark_of(CuEvent event) const;
  // Call when an event is destroyed, because its handle may be reused for another event.
  void forget(CuEvent event) { all_.erase(event); }

 private:
  struct Event {
    int recording = 0;
    bool overlapped = false;
    std::optional<Mark> mark;
  };
  std::unordered_map<CuEvent, Event> all_;
};

}  // namespace redzone::interpose
