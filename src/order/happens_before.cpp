#include "order/happens_before.h"

#include <algorithm>

#include "core/error.h"

namespace redzone::order {
namespace {

void join(Clock& into, const Clock& other) {
  for (std::size_t i = 0; i < other.size(); ++i) into[i] = std::max(into[i], other[i]);
}

}  // namespace

HappensBefore::HappensBefore(std::size_t streams) : now_(streams + 1, Clock(streams + 1, 0)) {}

HappensBefore::Operation HappensBefore::add(std::size_t line) {
  Clock& clock = now_[line];
  ++clock[line];
  lines_.push_back(static_cast<std::uint8_t>(line));
  clocks_.insert(clocks_.end(), clock.begin(), clock.end());
  return static_cast<Operation>(lines_.size() - 1);
}

HappensBefore::Operation HappensBefore::enqueue(std::size_t stream) {
  RZ_CHECK(stream < host());
  join(now_[stream], now_[host()]);
  return add(stream);
}

HappensBefore::Operation HappensBefore::on_host() {
  return add(host());
}

void HappensBefore::wait(std::size_t stream, const Event& event) {
  RZ_CHECK(stream < host());
  join(now_[stream], event.clock);
}

void HappensBefore::synchronize(std::size_t stream) {
  RZ_CHECK(stream < host());
  join(now_[host()], now_[stream]);
}

void HappensBefore::synchronize() {
  for (std::size_t stream = 0; stream < host(); ++stream) synchronize(stream);
}

bool HappensBefore::before(Operation a, Operation b) const {
  if (a == b) return false;
  const std::size_t line = lines_[a];
  return clock_of(b, line) >= clock_of(a, line);
}

bool HappensBefore::before_later(Operation a, std::size_t stream) const {
  RZ_CHECK(stream < host());
  const std::size_t line = lines_[a];
  return std::max(now_[stream][line], now_[host()][line]) >= clock_of(a, line);
}

}  // namespace redzone::order
