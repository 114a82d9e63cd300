// Which calls of a target probably hang, by those that did.
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
  // A call that returned and whose work ended: it does not hang by its dims and knobs alone.
  void note_ended(const Call& call);
  // Forgets which hung, as if none had.
  void forget_hung();
  // A call of the same dims and knobs has hung; or one with the same value of a dim has, and none
  // with that value is known to have ended. Of a dim of which few values are known to have ended,
  // the value says nothing.
  bool may_hang(const Call& call) const;
  bool empty() const { return calls_.empty(); }

 private:
  // Of each: a target with more sizes that hang is not helped by knowing them.
  static constexpr std::size_t kMost = 4096;
  static constexpr std::size_t kFewValues = 8;
  using Values = std::map<std::string, std::set<std::int64_t>, std::less<>>;  // by dim

  std::set<std::pair<Dims, Config>> calls_;  // those that hung
  Values hung_, ended_;
};

}  // namespace redzone::campaign
