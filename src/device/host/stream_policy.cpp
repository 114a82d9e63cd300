#include "device/host/stream_policy.h"

#include <algorithm>
#include <numeric>

namespace redzone::device {

StreamPolicy::StreamPolicy(Rng& rng) {
  if (rng.natural()) return;
  static constexpr Kind kKinds[] = {Kind::by_age,   Kind::priority,   Kind::priority,
                                    Kind::changing, Kind::changing,   Kind::uniform,
                                    Kind::uniform,  Kind::round_robin};
  kind_ = kKinds[rng.below(std::size(kKinds))];
  std::iota(rank_.begin(), rank_.end(), std::uint64_t{0});
  for (std::size_t i = rank_.size(); i > 1; --i) std::swap(rank_[i - 1], rank_[rng.below(i)]);
  last_rank_ = rank_.size() - 1;
  change_every_ = std::uint64_t{2} << rng.below(3);
}

int StreamPolicy::first_by_rank(std::span<const int> ready) const {
  return *std::min_element(ready.begin(), ready.end(), [&](int a, int b) {
    return rank_[static_cast<std::size_t>(a)] < rank_[static_cast<std::size_t>(b)];
  });
}

int StreamPolicy::choose(std::span<const int> ready, Rng& rng) {
  switch (kind_) {
    case Kind::changing:
      if (rng.below(change_every_) == 0)
        rank_[static_cast<std::size_t>(first_by_rank(ready))] = ++last_rank_;
      return first_by_rank(ready);
    case Kind::by_age:
    case Kind::priority:
      return first_by_rank(ready);
    case Kind::round_robin: {
      const auto next = std::upper_bound(ready.begin(), ready.end(), turn_);
      return turn_ = next == ready.end() ? ready.front() : *next;
    }
    case Kind::uniform:
      break;
  }
  return ready[rng.below(ready.size())];
}

}  // namespace redzone::device
