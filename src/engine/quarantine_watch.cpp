#include "engine/quarantine_watch.h"

#include <algorithm>

namespace redzone::engine {
namespace {

// Reading a ledger of several years takes some ten milliseconds.
constexpr std::chrono::seconds kFresh{2};

}  // namespace

const store::Quarantined* QuarantineWatch::of(std::string_view target) {
  if (const auto now = now_(); now >= fresh_until_) {
    if (auto asked = store_.quarantined()) known_ = std::move(*asked);
    fresh_until_ = now + kFresh;
  }
  const auto it = std::find_if(known_.begin(), known_.end(),
                               [&](const auto& q) { return q.signature.target == target; });
  return it == known_.end() ? nullptr : &*it;
}

}  // namespace redzone::engine
