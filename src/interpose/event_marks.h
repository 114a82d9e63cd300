// Which launches the program's events come after, so that a wait for an event completes them.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "interpose/driver_abi.h"

namespace redzone::interpose {

// Not for several threads at a time: LaunchLog locks.
class EventMarks {
 public:
  // An event comes after all that the stream had been given when `until` calls of launches had
  // returned. `thread`: whose default stream it is, for kThreadStream.
  struct Mark {
    CuContext context = nullptr;
    CuStream stream = nullptr;
    std::uint32_t thread = 0;
    std::uint64_t until = 0;
  };

  // Around the driver's call that records the event. Of two such calls that overlap it is not known
  // which one counts, so the event has no mark then.
  void record_begins(CuEvent event);
  // No mark: the call failed, or is a node of a graph.
  void record_ends(CuEvent event, const std::optional<Mark>& mark);
  std::optional<Mark> mark_of(CuEvent event) const;
  // Its handle may come back for another event.
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
