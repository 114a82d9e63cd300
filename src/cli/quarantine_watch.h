// Who may not be launched, as of now: a person may say so while a night runs.
#pragma once

#include <chrono>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace redzone::cli {

class QuarantineWatch {
 public:
  // Borrows the store.
  explicit QuarantineWatch(store::Store& store) : store_(store) {}

  // The first finding of the target that is quarantined; null: there is none. Valid until the next
  // call. Asks the store again where it was asked some seconds ago; one that cannot be read says
  // what it said before.
  const store::Quarantined* of(std::string_view target);

 private:
  store::Store& store_;
  std::vector<store::Quarantined> known_;
  std::chrono::steady_clock::time_point fresh_until_ = {};
};

}  // namespace redzone::cli
