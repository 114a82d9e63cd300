#include "fleet/leases.h"

#include <utility>

namespace redzone::fleet {

void Leases::restore(const std::vector<Lease>& leases, double now) {
  for (const auto& lease : leases) holders_[lease.signature] = {lease.shard, now + seconds_};
}

Answer Leases::ask(const std::string& signature, int shard, double now) {
  if (reduced_.contains(signature)) return Answer::reduced;
  const auto holder = holders_.find(signature);
  if (holder != holders_.end() && holder->second.shard != shard && now < holder->second.until)
    return Answer::leased;
  holders_[signature] = {shard, now + seconds_};
  return Answer::granted;
}

void Leases::set_reduced(std::set<std::string> signatures) {
  reduced_ = std::move(signatures);
  std::erase_if(holders_, [this](const auto& holder) { return reduced_.contains(holder.first); });
}

std::vector<Lease> Leases::held(double now) {
  std::erase_if(holders_, [now](const auto& holder) { return now >= holder.second.until; });
  std::vector<Lease> all;
  for (const auto& [signature, holder] : holders_) all.push_back({signature, holder.shard});
  return all;
}

}  // namespace redzone::fleet
