// Who may not be launched, as of now: a person may say so while a night runs.
#pragma once

#include <chrono>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "store/store.h"

namespace redzone::engine {

class QuarantineWatch {
 public:
  using Now = std::function<std::chrono::steady_clock::time_point()>;

  // Borrows the store.
  explicit QuarantineWatch(store::Store& store, Now now = std::chrono::steady_clock::now)
      : store_(store), now_(std::move(now)) {}

  // The first finding of the target that is quarantined; null: there is none. Valid until the next
  // call. Asks the store again where it was asked some seconds ago; one that cannot be read says
  // what it said before.
  const store::Quarantined* of(std::string_view target);

 private:
  store::Store& store_;
  Now now_;
  std::vector<store::Quarantined> known_;
  std::chrono::steady_clock::time_point fresh_until_ = {};
};

}  // namespace redzone::engine
