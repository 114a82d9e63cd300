// A shard's knowledge of other shards: the findings that the hub has published as reduced. Looked
// up when the shard has confirmed a finding, and at most as often as a shard publishes, since the
// hub has nothing newer before.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/error.h"

namespace redzone::fleet {

class KnownElsewhere {
 public:
  using Signatures = std::set<std::string>;  // Signature::hash()

  // `pull`: returns the signatures published so far. `now`: seconds of a monotonic clock.
  KnownElsewhere(std::function<Result<Signatures>()> pull, std::function<double()> now,
                 double seconds_between)
      : pull_(std::move(pull)), now_(std::move(now)), seconds_between_(seconds_between) {}

  // Returns false if the published store cannot be read.
  bool is_reduced(const std::string& signature);

 private:
  std::function<Result<Signatures>()> pull_;
  std::function<double()> now_;
  double seconds_between_;
  std::optional<double> pulled_at_;
  Signatures known_;
};

}  // namespace redzone::fleet
