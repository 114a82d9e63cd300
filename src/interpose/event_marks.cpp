#include "interpose/event_marks.h"

namespace redzone::interpose {

void EventMarks::record_begins(CuEvent event) {
  Event& of = all_[event];
  of.mark.reset();
  if (++of.recording > 1) of.overlapped = true;
}

void EventMarks::record_ends(CuEvent event, const std::optional<Mark>& mark) {
  const auto at = all_.find(event);
  if (at == all_.end()) return;  // destroyed meanwhile
  Event& of = at->second;
  if (!of.overlapped) of.mark = mark;
  if (of.recording > 0 && --of.recording == 0) of.overlapped = false;
}

std::optional<EventMarks::Mark> EventMarks::mark_of(CuEvent event) const {
  const auto at = all_.find(event);
  return at == all_.end() ? std::nullopt : at->second.mark;
}

}  // namespace redzone::interpose
