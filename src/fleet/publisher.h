// Publishes the local store of an attempt, and tells how the attempt does.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "fleet/layout.h"

namespace redzone::fleet {

class Publisher {
 public:
  // `store`: is written by other processes meanwhile, or does not exist yet.
  Publisher(Layout layout, const Attempt& attempt, AttemptStatus status,
            std::filesystem::path store)
      : layout_(std::move(layout)),
        attempt_(attempt),
        status_(std::move(status)),
        store_(std::move(store)) {}

  // Publishes if `always` or if there are other findings than in the latest snapshot. What fails is
  // told in the status, and is tried again the next time.
  void publish(bool always);
  void end(int exit_code);

 private:
  Result<void> try_publish(bool always);
  void tell();

  Layout layout_;
  Attempt attempt_;
  AttemptStatus status_;
  std::filesystem::path store_;
  std::vector<std::pair<std::string, std::int64_t>> findings_;  // by state, as published
};

}  // namespace redzone::fleet
