#include "campaign/hung_calls.h"

#include <algorithm>

namespace redzone::campaign {

void HungCalls::note_hung(const Call& call) {
  if (calls_.size() >= kMost) return;
  calls_.emplace(call.dims, call.config);
  for (const auto& [name, value] : call.dims) hung_[name].insert(value);
}

void HungCalls::note_ended(const Call& call) {
  if (!calls_.empty()) calls_.erase({call.dims, call.config});
  for (const auto& [name, value] : call.dims)
    if (auto& values = ended_[name]; values.size() < kMost) values.insert(value);
}

void HungCalls::forget_hung() {
  calls_.clear();
  hung_.clear();
}

bool HungCalls::may_hang(const Call& call) const {
  if (calls_.contains({call.dims, call.config})) return true;
  return std::any_of(call.dims.begin(), call.dims.end(), [&](const auto& dim) {
    const auto& [name, value] = dim;
    const auto hung = hung_.find(name), ended = ended_.find(name);
    if (hung == hung_.end() || ended == ended_.end() || ended->second.size() < kFewValues)
      return false;
    return hung->second.contains(value) && !ended->second.contains(value);
  });
}

}  // namespace redzone::campaign
