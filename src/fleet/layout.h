// The shared folder of a fleet: which file is whose. Each file has one writer, and is replaced as a
// whole. No store in it is ever opened for writing: those that are written lie on local disks.
//
//   fleet.json                      submit     what the fleet is to do
//   jobs.json                       submit     Slurm's numbers of its jobs
//   known.db                        submit     the store that every shard begins with; optional
//   stop                            anybody    nothing is requeued or begun any more
//   attempts/0003-1.json            attempt    that attempt 1 of shard 3 exists, and its status
//   snapshots/0003-1-7.db           attempt    its seventh snapshot; it keeps the latest
//   requests/0003-1-2-HASH          attempt    its second question, about a signature; the hub
//                                              removes it
//   answers/0003-1-2-HASH           hub        the answer; the attempt removes it
//   leases.json                     hub        who reduces what
//   hub.db                          hub        all snapshots merged: a copy of the hub's own store
//   hub.db.unread                   hub        a hub.db that it could not read; optional
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

// A question of an attempt: may it reduce this finding?
struct Request {
  Attempt attempt;
  std::int64_t number = 1;  // counts the questions of the attempt
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
