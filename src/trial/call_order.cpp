#include "trial/call_order.h"

#include <utility>

namespace redzone::trial {
namespace {

constexpr std::uint32_t bit(int stream) {
  return std::uint32_t{1} << stream;
}

}  // namespace

bool CallOrder::before(int stream) {
  if (state_.streams.concurrent_calls) return true;
  const Last last = std::exchange(now_, Last{stream, bit(stream)});
  if (last.stream < 0 || (last.ordered & bit(stream)) != 0) return true;
  return state_.session.wait(stream, last.stream);
}

void CallOrder::waited(int stream, int on) {
  if ((now_.ordered & bit(on)) != 0) now_.ordered |= bit(stream);
}

void CallOrder::begin_capture() {
  outside_ = std::exchange(now_, {});
}

}  // namespace redzone::trial
