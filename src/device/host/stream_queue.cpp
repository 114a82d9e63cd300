#include "device/host/stream_queue.h"

#include <algorithm>
#include <cstring>

#include "core/error.h"

namespace redzone::device {

void Operation::copy_arguments(const LaunchArgs& args) {
  constexpr std::size_t kUnit = sizeof(ArgumentUnit);
  std::size_t units = 0;
  for (std::size_t i = 0; i < args.count; ++i) units += (args.sizes[i] + kUnit - 1) / kUnit;
  arguments.resize(units);
  pointers.resize(args.count + 1);  // never empty, so that data() is a valid address
  ArgumentUnit* at = arguments.data();
  for (std::size_t i = 0; i < args.count; ++i) {
    pointers[i] = at;
    std::memcpy(at, args.pointers[i], args.sizes[i]);
    at += (args.sizes[i] + kUnit - 1) / kUnit;
  }
  grid.args = pointers.data();
}

void StreamQueue::clear(Rng& rng) {
  for (Stream& stream : streams_) {
    stream.begin = stream.end = 0;
    stream.done = 0;
  }
  given_ = {};
  queued_ = 0;
  enqueued_ = 0;
  policy_ = StreamPolicy(rng);
}

Operation& StreamQueue::push(int stream) {
  Stream& s = streams_[stream];
  if (s.begin == s.end) {
    s.begin = s.end = 0;
  } else if (s.end == s.operations.size() && s.begin >= s.end / 2 + 1) {
    // Reuses the half that has run instead of growing. Moving an operation keeps its storage, and
    // thus the addresses of its arguments.
    std::rotate(s.operations.begin(), s.operations.begin() + static_cast<std::ptrdiff_t>(s.begin),
                s.operations.end());
    s.end -= s.begin;
    s.begin = 0;
  }
  if (s.end == s.operations.size()) s.operations.emplace_back();
  Operation& operation = s.operations[s.end++];
  operation.order = enqueued_++;
  ++queued_;
  return operation;
}

bool StreamQueue::may_run(const Operation& operation) const {
  if (operation.kind == Operation::Kind::await)
    return given_[static_cast<std::size_t>(operation.signal)];
  return operation.kind != Operation::Kind::wait || streams_[operation.on].done >= operation.ticket;
}

bool StreamQueue::may_advance() const {
  return std::any_of(streams_.begin(), streams_.end(), [this](const Stream& s) {
    return s.size() > 0 && may_run(s.operations[s.begin]);
  });
}

int StreamQueue::choose(Rng& rng) {
  std::array<int, kStreams> ready;
  std::size_t count = 0;
  for (int i = 0; i < kStreams; ++i)
    if (streams_[i].size() > 0 && may_run(streams_[i].first())) ready[count++] = i;
  // A wait refers to operations that were enqueued before it, so the oldest operation may run
  // unless it awaits a signal.
  RZ_CHECK(count > 0);
  if (count > 1 && !policy_.by_age()) return policy_.choose({ready.data(), count}, rng);
  return *std::min_element(ready.begin(), ready.begin() + count, [&](int a, int b) {
    return streams_[a].first().order < streams_[b].first().order;
  });
}

void StreamQueue::pop(int stream) {
  Stream& s = streams_[stream];
  ++s.begin;
  ++s.done;
  --queued_;
}

}  // namespace redzone::device
