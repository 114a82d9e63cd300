// The shared folder of a fleet, and which process writes each file. Each file has one writer, and
// is replaced as a whole. No store in the folder is ever opened for writing: stores that are
// written are on local disks.
//
//   fleet.json                      submit     the work of the fleet
//   jobs.json                       submit     Slurm's numbers of its jobs
//   known.db                        submit     the store that every shard starts from; optional
//   stop                            anybody    nothing is requeued or started any more
//   attempts/0003-1.json            attempt    exists for attempt 1 of shard 3; contains its status
//   snapshots/0003-1-7.db           attempt    its seventh snapshot; only the latest is kept
//   requests/0003-1-2-HASH          attempt    its second request, about a signature; the hub
//                                              removes it
//   answers/0003-1-2-HASH           hub        the answer; the attempt removes it
//   leases.json                     hub        which shard reduces which finding
//   hub.db                          hub        all snapshots merged: a copy of the hub's own store
//   hub.db.unread                   hub        a hub.db that could not be read; optional
//   hub.json                        hub        its status
//   report/, logs/                  hub, Slurm
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "fleet/attempt.h"

namespace redzone::fleet {

struct SnapshotName {
  Attempt attempt;
  std::int64_t number = 1;

  auto operator<=>(const SnapshotName&) const = default;
};

// A request of an attempt: may it reduce this finding?
struct Request {
  Attempt attempt;
  std::int64_t number = 1;  // counts the requests of the attempt
  std::string signature;    // Signature::hash()

  auto operator<=>(const Request&) const = default;
};

std::string text_of(const SnapshotName& name);  // "0003-1-7.db"
std::optional<SnapshotName> parse_snapshot(std::string_view text);
std::string text_of(const Request& request);  // "0003-1-2-HASH"
std::optional<Request> parse_request(std::string_view text);

struct Layout {
  std::filesystem::path root;

  std::filesystem::path fleet() const { return root / "fleet.json"; }
  std::filesystem::path jobs() const { return root / "jobs.json"; }
  std::filesystem::path known() const { return root / "known.db"; }
  std::filesystem::path stop() const { return root / "stop"; }
  std::filesystem::path attempts() const { return root / "attempts"; }
  std::filesystem::path attempt(const Attempt& a) const {
    return attempts() / (text_of(a) + ".json");
  }
  std::filesystem::path snapshots() const { return root / "snapshots"; }
  std::filesystem::path snapshot(const SnapshotName& name) const {
    return snapshots() / text_of(name);
  }
  std::filesystem::path requests() const { return root / "requests"; }
  std::filesystem::path answers() const { return root / "answers"; }
  std::filesystem::path leases() const { return root / "leases.json"; }
  std::filesystem::path hub_store() const { return root / "hub.db"; }
  std::filesystem::path unread_hub_store() const { return root / "hub.db.unread"; }
  std::filesystem::path hub_status() const { return root / "hub.json"; }
  std::filesystem::path report() const { return root / "report"; }
  std::filesystem::path logs() const { return root / "logs"; }
};

}  // namespace redzone::fleet
