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

// Whether create_folder() can begin, as far as can be said without writing: a usage error if the
// folder is a file, or holds a fleet or what one has left.
Result<void> check_folder(const Layout& layout);
// Makes the folder and its subfolders, and writes what the fleet is to do. A usage error if there
// is a fleet already or what one has left and this one would take for its own, if nothing can be
// written, or if the clock of this machine and that of the folder differ by more than
// kMostClockError.
Result<void> create_folder(const Layout& layout, const Fleet& fleet);
// Undoes it for a fleet whose jobs were not submitted: the folder may be used again. Attempts and
// snapshots stay, which tell of which fleet they are.
void abandon_folder(const Layout& layout);
inline constexpr double kMostClockError = 300;  // seconds
// Compares the time that the folder's file system gave a new file with the clock of this machine.
Result<void> check_clock(const std::filesystem::path& new_file);

// A usage error that says what the folder lacks, for commands and jobs that are given one.
Result<Fleet> read_fleet(const Layout& layout);
// For a job, which knows whose it is: another fleet in its folder is an error, as on a node that
// does not share the folder. "" for a job that was started by hand.
Result<Fleet> read_fleet_of(const Layout& layout, const std::string& uid);

// A new attempt of this shard, whose number no other one has. Its status says that it has begun.
Result<Attempt> claim_attempt(const Layout& layout, int shard, const AttemptStatus& status);
// What all attempts of this fleet tell; of an unreadable status only why.
Result<std::map<Attempt, AttemptStatus>> read_attempts(const Layout& layout,
                                                       const std::string& uid);
// The latest attempt of the shard; nothing if there is none.
Result<std::optional<Attempt>> latest_attempt(const Layout& layout, int shard);

// The latest snapshot of each attempt, of whatever fleet.
Result<std::vector<SnapshotName>> list_snapshots(const Layout& layout);
// Those that a new attempt of the shard may go on with, the best first: of the attempts before it
// that are of its fleet, from the latest on.
Result<std::vector<SnapshotName>> snapshots_before(const Layout& layout, const std::string& uid,
                                                   const Attempt& attempt);
// Publishes the store as the next snapshot of the attempt and removes the one before.
Result<void> publish_snapshot(const Layout& layout, const SnapshotName& name, store::Store& store);

// The hub's side. Its own store is a file on a local disk; the folder gets copies of it.
class SharedHub final : public HubFolder {
 public:
  // Opens the store `local`, which is made of what an earlier attempt of the hub published, or else
  // of what the fleet began with. One that cannot be read, since it is damaged or of a later
  // version of Redzone, is told in problems(), and the hub keeps it under another name: all that it
  // merged is in the snapshots.
  static Result<std::unique_ptr<SharedHub>> open(const Layout& layout, const std::string& uid,
                                                 const Attempt& attempt,
                                                 const std::filesystem::path& local);

  bool is_owner() override;
  // True if a later attempt is known. As long as the attempts cannot be read this is neither.
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
  // What was in the way at the begin, one line each.
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
  std::map<Attempt, bool> foreign_;  // whether an attempt is of another fleet, which never changes
  store::Store store_;
  std::vector<std::string> problems_;
};

// Signatures of the findings that the hub has published as reduced; none as long as it has
// published nothing. Its store is read into memory, and not written.
Result<std::set<std::string>> published_reductions(const Layout& layout);

// Removes the questions of this attempt and of the attempts of its shard before it, and their
// answers: whoever was killed takes none.
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
