// Predicts which calls of a target hang, from the calls that did.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/plan.h"

namespace redzone::campaign {

class HungCalls {
 public:
  void note_hung(const Call& call);
  // Records a call that returned and whose work ended: its dims and knobs alone do not make it
  // hang.
  void note_ended(const Call& call);
  // Forgets which calls hung.
  void forget_hung();
  // True if a call with the same dims and knobs has hung, or if a call with the same value of some
  // dim has hung and no call with that value is known to have ended. The second rule ignores dims
  // for which few values are known to have ended.
  bool may_hang(const Call& call) const;
  bool empty() const { return calls_.empty(); }

 private:
  // Limit on hung calls, and on ended values of each dim: with more sizes that hang, recording them
  // does not help.
  static constexpr std::size_t kMost = 4096;
  static constexpr std::size_t kFewValues = 8;
  using Values = std::map<std::string, std::set<std::int64_t>, std::less<>>;  // by dim

  std::set<std::pair<Dims, Config>> calls_;  // calls that hung
  Values hung_, ended_;
};

}  // namespace redzone::campaign
