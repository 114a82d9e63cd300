// The hub of a fleet: the only process that writes the merged store and grants leases. A state
// machine over the shared folder and a clock, so that it can be tested without either.
//
// A hub may be killed at any time and started again anywhere: everything that it has not published
// is in the snapshots, which the next attempt merges. Merging a snapshot twice changes nothing.
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

// The hub's operations on the shared folder and on its own store.
class HubFolder {
 public:
  virtual ~HubFolder() = default;

  // True while no later attempt of the hub exists.
  virtual bool is_owner() = 0;
  // The latest snapshot of each attempt, in any order.
  virtual Result<std::vector<SnapshotName>> snapshots() = 0;
  // Merges the snapshot into the hub's store, which records the merge. Returns false if the
  // snapshot is gone because a later one has replaced it. An error concerns only this snapshot.
  virtual Result<bool> merge(const SnapshotName& snapshot) = 0;
  // Maps each attempt to the number of its latest merged snapshot.
  virtual Result<std::map<Attempt, std::int64_t>> merged() = 0;
  // Signatures, including former ones, of findings whose reduction has ended (store/reduced.h).
  virtual Result<std::set<std::string>> reduced() = 0;
  // Makes the store visible to all, unless a later attempt now owns the folder.
  virtual Result<void> publish() = 0;

  virtual Result<std::vector<Request>> requests() = 0;
  // Answers the request and removes it.
  virtual Result<void> answer(const Request& request, Answer answer) = 0;
  virtual Result<std::vector<Lease>> leases() = 0;  // as stored last, by any attempt of the hub
  virtual Result<void> keep(const std::vector<Lease>& leases) = 0;
};

struct HubFigures {
  std::int64_t merges = 0;
  std::int64_t granted = 0, leased = 0, reduced = 0;  // number of answers
  // Attempts whose latest snapshot could not be merged, with the reason.
  std::map<Attempt, std::string> refused;

  bool operator==(const HubFigures&) const = default;
};

class Hub {
 public:
  // `now`: seconds of a monotonic clock. `folder` is borrowed.
  Hub(HubFolder& folder, std::function<double()> now, double lease_seconds)
      : folder_(folder), now_(std::move(now)), leases_(lease_seconds) {}

  // Continues with the leases and the store of an earlier attempt.
  Result<void> begin();
  // Answers all requests. The leases are stored before any answer is written. Answers nothing if
  // another attempt owns the folder.
  Result<void> answer();
  // Merges the snapshots of each attempt that are newer than its cursor, and publishes the result.
  // Returns true if there were any. `stop`: called before each merge; if it returns true, the rest
  // is left to a later attempt.
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
