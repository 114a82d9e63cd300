#include "fleet/known_elsewhere.h"

#include "core/log.h"

namespace redzone::fleet {

bool KnownElsewhere::is_reduced(const std::string& signature) {
  if (known_.contains(signature)) return true;  // a reduced finding stays reduced
  if (pulled_at_ && now_() - *pulled_at_ < seconds_between_) return false;
  pulled_at_ = now_();
  if (auto pulled = pull_())
    known_ = *std::move(pulled);
  else
    log::warn("fleet: what other shards have reduced is not known: {}", pulled.error().message);
  return known_.contains(signature);
}

}  // namespace redzone::fleet
