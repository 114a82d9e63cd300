// Watches which targets have quarantined findings: a person may quarantine one while a night runs.
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

  // The first quarantined finding of the target; null if there is none. Valid until the next call.
  // Rereads the store after some seconds; if that fails, the previous result is used.
  const store::Quarantined* of(std::string_view target);

 private:
  store::Store& store_;
  Now now_;
  std::vector<store::Quarantined> known_;
  std::chrono::steady_clock::time_point fresh_until_ = {};
};

}  // namespace redzone::engine
