// The hub of a fleet: the only writer of the merged store, and the only one who grants leases. A
// state machine over the shared folder and a clock, so that it is tested without either.
//
// A hub may be killed at any time and started again anywhere: what it has not published is in the
// snapshots, which the next one merges. Merging a snapshot twice changes nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "fleet/layout.h"
#include "fleet/leases.h"

namespace redzone::fleet {

// What a hub does to the shared folder and to its own store.
class HubFolder {
 public:
  virtual ~HubFolder() = default;

  // True while no later attempt of the hub exists.
  virtual bool is_owner() = 0;
  // The latest snapshot of each attempt, in any order.
  virtual Result<std::vector<SnapshotName>> snapshots() = 0;
  // Merges the snapshot into the hub's store, which keeps that it was. False: it is gone, because a
  // later one has replaced it. An error concerns this snapshot alone.
  virtual Result<bool> merge(const SnapshotName& snapshot) = 0;
  // Of each attempt: the number of the snapshot that the store has.
  virtual Result<std::map<Attempt, std::int64_t>> merged() = 0;
  // Signatures whose findings the store has with a reduced plan, under all their names.
  virtual Result<std::set<std::string>> reduced() = 0;
  // Makes the store visible to all, unless a later attempt owns the folder by then.
  virtual Result<void> publish() = 0;

  virtual Result<std::vector<Request>> requests() = 0;
  // Removes the request.
  virtual Result<void> answer(const Request& request, Answer answer) = 0;
  virtual Result<std::vector<Lease>> leases() = 0;  // as kept last, by any attempt of the hub
  virtual Result<void> keep(const std::vector<Lease>& leases) = 0;
};

struct HubFigures {
  std::int64_t merges = 0;
  std::int64_t granted = 0, leased = 0, reduced = 0;  // answers
  // Snapshots that could not be merged: the latest of each attempt, with the reason.
  std::map<Attempt, std::string> refused;

  bool operator==(const HubFigures&) const = default;
};

class Hub {
 public:
  // `now`: seconds of a monotonic clock. `folder` is borrowed.
  Hub(HubFolder& folder, std::function<double()> now, double lease_seconds)
      : folder_(folder), now_(std::move(now)), leases_(lease_seconds) {}

  // Goes on with the leases and the store of an earlier attempt.
  Result<void> begin();
  // Answers all requests. The leases are stored before anybody learns of them. Nothing is answered
  // once another attempt owns the folder.
  Result<void> answer();
  // Merges what is new behind the cursor of each attempt, and publishes the result. Returns whether
  // there was anything. `stop`: asked before each merge; true: the rest is left to a later attempt.
  Result<bool> collect(const std::function<bool()>& stop = [] { return false; });

  const HubFigures& figures() const { return figures_; }

 private:
  HubFolder& folder_;
  std::function<double()> now_;
  Leases leases_;
  std::map<Attempt, std::int64_t> cursors_;  // number of the snapshot that was merged last
  bool unpublished_ = true;
  HubFigures figures_;
};

}  // namespace redzone::fleet
