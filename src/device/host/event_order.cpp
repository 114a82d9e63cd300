#include "device/host/event_order.h"

#include <algorithm>

namespace redzone::device {

void EventOrder::clear() {
  behind_ = {};
  waited_ = {};
}

void EventOrder::wait(int stream, int on, std::uint64_t ticket) {
  Clock& clock = behind_[static_cast<std::size_t>(stream)];
  const Clock& other = behind_[static_cast<std::size_t>(on)];
  // The clock of `on` describes its latest operation, so it applies only if `ticket` is the latest
  // one.
  if (ticket == queue_.tickets(on))
    for (std::size_t s = 0; s < kStreams; ++s) clock[s] = std::max(clock[s], other[s]);
  auto& known = clock[static_cast<std::size_t>(on)];
  known = std::max(known, ticket);
}

void EventOrder::synchronized() {
  for (std::size_t s = 0; s < kStreams; ++s) waited_[s] = queue_.tickets(static_cast<int>(s));
}

bool EventOrder::waited_for(const FreedAt& point) const {
  return waited_[static_cast<std::size_t>(point.stream)] >= point.ticket;
}

bool EventOrder::orders(int stream, const FreedAt& point) const {
  if (stream == point.stream || waited_for(point)) return true;
  const Clock& clock = behind_[static_cast<std::size_t>(stream)];
  return clock[static_cast<std::size_t>(point.stream)] >= point.ticket;
}

}  // namespace redzone::device
