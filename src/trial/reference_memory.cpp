#include "trial/reference_memory.h"

#include <algorithm>

namespace redzone::trial {
namespace {

// More than the calls of a plan that is being reduced; limited because find() visits each entry.
constexpr std::size_t kMostEntries = 256;

}  // namespace

const ExpectedOutputs* ReferenceMemory::find(const std::string& target, const Call& call,
                                             bool sampled) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.call.seed == call.seed && entry.sampled == sampled && entry.target == target &&
           entry.call == call;
  });
  if (found == entries_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found);
  return &entries_.front().outputs;
}

void ReferenceMemory::keep(const std::string& target, const Call& call, bool sampled,
                           const ExpectedOutputs& outputs) {
  std::size_t values = 0;
  for (const auto& output : outputs) values += output.size();
  if (values > most_values_) return;
  while (!entries_.empty() &&
         (entries_.size() >= kMostEntries || values_ + values > most_values_)) {
    values_ -= entries_.back().values;
    entries_.pop_back();
  }
  values_ += values;
  entries_.push_front({target, call, sampled, outputs, values});
}

}  // namespace redzone::trial
