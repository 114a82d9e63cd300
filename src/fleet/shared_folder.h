// The shared folder of a fleet, as files.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fleet/fleet.h"
#include "fleet/hub.h"
#include "fleet/layout.h"
#include "fleet/lease_client.h"
#include "store/store.h"

namespace redzone::fleet {

// Checks that create_folder() can begin, as far as possible without writing: returns a usage error
// if the folder is a file, or contains a fleet or leftovers of one.
Result<void> check_folder(const Layout& layout);
// Creates the folder and its subfolders, and writes the fleet's work. Returns a usage error if
// there is already a fleet or leftovers that the new fleet would mistake for its own, if nothing
// can be written, or if the clocks of this machine and of the folder differ by more than
// kMostClockError.
Result<void> create_folder(const Layout& layout, const Fleet& fleet);
// Undoes create_folder() for a fleet whose jobs were not submitted: the folder may be used again.
// Attempts and snapshots stay, since they contain the uid of their fleet.
void abandon_folder(const Layout& layout);
inline constexpr double kMostClockError = 300;  // seconds
// Compares the time that the folder's file system gave a new file with the clock of this machine.
Result<void> check_clock(const std::filesystem::path& new_file);

// Reads the fleet; a usage error says what the folder lacks. For commands and jobs that get the
// folder as an argument.
Result<Fleet> read_fleet(const Layout& layout);
// For a job that belongs to the fleet `uid`: another fleet in the folder is an error, as on a node
// that does not share the folder. `uid` is "" for a job that was started by hand.
Result<Fleet> read_fleet_of(const Layout& layout, const std::string& uid);

// Claims a new attempt of this shard, with a number that no other attempt has. Its status records
// that it has begun.
Result<Attempt> claim_attempt(const Layout& layout, int shard, const AttemptStatus& status);
// The statuses of all attempts of this fleet; for an unreadable status, only the problem is set.
Result<std::map<Attempt, AttemptStatus>> read_attempts(const Layout& layout,
                                                       const std::string& uid);
// The latest attempt of the shard; nothing if there is none.
Result<std::optional<Attempt>> latest_attempt(const Layout& layout, int shard);

// The latest snapshot of each attempt, of any fleet.
Result<std::vector<SnapshotName>> list_snapshots(const Layout& layout);
// The snapshots from which a new attempt of the shard may continue, the best first: those of the
// earlier attempts of its fleet, starting with the latest.
Result<std::vector<SnapshotName>> snapshots_before(const Layout& layout, const std::string& uid,
                                                   const Attempt& attempt);
// Publishes the store as the next snapshot of the attempt and removes the previous one.
Result<void> publish_snapshot(const Layout& layout, const SnapshotName& name, store::Store& store);

// The hub's side of the folder. The hub's own store is a file on a local disk; the folder gets
// copies.
class SharedHub final : public HubFolder {
 public:
  // Opens the store `local`, created from the store that an earlier attempt of the hub published,
  // or else from the store that the fleet started from. A store that cannot be read, because it is
  // damaged or of a later version of Redzone, is reported in problems(), and the hub keeps it under
  // another name: everything that it merged is in the snapshots.
  static Result<std::unique_ptr<SharedHub>> open(const Layout& layout, const std::string& uid,
                                                 const Attempt& attempt,
                                                 const std::filesystem::path& local);

  bool is_owner() override;
  // True if a later attempt is known. While the attempts cannot be read, both this and is_owner()
  // return false.
  bool is_replaced();
  Result<std::vector<SnapshotName>> snapshots() override;
  Result<bool> merge(const SnapshotName& snapshot) override;
  Result<std::map<Attempt, std::int64_t>> merged() override;
  Result<std::set<std::string>> reduced() override;
  Result<void> publish() override;
  Result<std::vector<Request>> requests() override;
  Result<void> answer(const Request& request, Answer answer) override;
  Result<std::vector<Lease>> leases() override;
  Result<void> keep(const std::vector<Lease>& leases) override;

  store::Store& store() { return store_; }
  // Problems when the store was opened, one line each.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  SharedHub(Layout layout, std::string uid, const Attempt& attempt, store::Store store,
            std::vector<std::string> problems)
      : layout_(std::move(layout)),
        uid_(std::move(uid)),
        attempt_(attempt),
        store_(std::move(store)),
        problems_(std::move(problems)) {}

  std::string source_of(const Attempt& attempt) const;

  Layout layout_;
  std::string uid_;
  Attempt attempt_;
  std::map<Attempt, bool> foreign_;  // whether an attempt belongs to another fleet; this never
                                     // changes
  store::Store store_;
  std::vector<std::string> problems_;
};

// Signatures of the findings that the hub has published as reduced; empty if it has published
// nothing. Reads the hub's store into memory and does not write it.
Result<std::set<std::string>> published_reductions(const Layout& layout);

// Removes the requests of this attempt and of earlier attempts of its shard, and their answers: an
// attempt that was killed takes no answers.
void remove_questions(const Layout& layout, const Attempt& last);

// A shard's side of the leases.
class SharedInquiries final : public Inquiries {
 public:
  SharedInquiries(Layout layout, const Attempt& attempt)
      : layout_(std::move(layout)), attempt_(attempt) {}

  bool ask(std::int64_t number, const std::string& signature) override;
  std::optional<Answer> take_answer(std::int64_t number, const std::string& signature) override;

 private:
  Layout layout_;
  Attempt attempt_;
};

}  // namespace redzone::fleet
