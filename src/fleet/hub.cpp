#include "fleet/hub.h"

#include <algorithm>
#include <utility>

namespace redzone::fleet {

Result<void> Hub::begin() {
  RZ_TRY_ASSIGN(const auto leases, folder_.leases());
  leases_.restore(leases, now_());
  RZ_TRY_ASSIGN(auto reduced, folder_.reduced());
  leases_.set_reduced(std::move(reduced));
  RZ_TRY_ASSIGN(cursors_, folder_.merged());
  return {};
}

Result<void> Hub::answer() {
  RZ_TRY_ASSIGN(auto requests, folder_.requests());
  if (requests.empty() || !folder_.is_owner()) return {};
  // Use a fixed order, so that the result does not depend on the order of a directory listing.
  std::sort(requests.begin(), requests.end());
  std::vector<std::pair<Request, Answer>> answers;
  for (auto& request : requests) {
    const Answer answer = leases_.ask(request.signature, request.attempt.shard, now_());
    answers.emplace_back(std::move(request), answer);
  }
  RZ_TRY(folder_.keep(leases_.held(now_())));
  for (const auto& [request, answer] : answers) {
    RZ_TRY(folder_.answer(request, answer));
    ++(answer == Answer::granted  ? figures_.granted
       : answer == Answer::leased ? figures_.leased
                                  : figures_.reduced);
  }
  return {};
}

Result<bool> Hub::collect(const std::function<bool()>& stop) {
  RZ_TRY_ASSIGN(auto snapshots, folder_.snapshots());
  std::sort(snapshots.begin(), snapshots.end());
  bool any = false;
  for (const auto& snapshot : snapshots) {
    if (cursors_[snapshot.attempt] >= snapshot.number) continue;
    if (stop()) break;
    auto merged = folder_.merge(snapshot);
    if (!merged) {
      // Continue with the other snapshots. The merge is tried again with each later snapshot of the
      // attempt.
      figures_.refused[snapshot.attempt] = merged.error().message;
      cursors_[snapshot.attempt] = snapshot.number;
      continue;
    }
    if (!*merged) continue;
    figures_.refused.erase(snapshot.attempt);
    cursors_[snapshot.attempt] = snapshot.number;
    ++figures_.merges;
    any = true;
  }
  if (any) {
    RZ_TRY_ASSIGN(auto reduced, folder_.reduced());
    leases_.set_reduced(std::move(reduced));
    unpublished_ = true;
  }
  if (unpublished_ && folder_.is_owner()) {
    RZ_TRY(folder_.publish());
    unpublished_ = false;
  }
  return any;
}

}  // namespace redzone::fleet
