// The ledger of a finding: the decisions of users about it and the results of later runs.
//
// The ledger stores events and computes the standing from them, so the ledgers of several machines
// merge by taking the union of their events, in any order and any number of times.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/enum_names.h"
#include "core/error.h"

namespace redzone {

enum class Standing : std::uint8_t {
  fresh,        // "new": no user has marked the finding
  known,        // waived, with a link to the bug report
  fixed,        // a later build passes the plan that failed
  regressed,    // it failed again after it was fixed
  quarantined,  // never launched, because it makes the machine hang
};

constexpr auto enum_table(Standing) {
  return enum_names<Standing>("standing", {{Standing::fresh, "new"},
                                           {Standing::known, "known"},
                                           {Standing::fixed, "fixed"},
                                           {Standing::regressed, "regressed"},
                                           {Standing::quarantined, "quarantined"}});
}

// True if a user has decided how to handle the finding; it then makes no run and no nightly run
// fail.
inline bool is_waived(Standing standing) {
  return standing == Standing::known || standing == Standing::quarantined;
}

enum class LedgerEvent : std::uint8_t {
  passed,       // replayed often enough, and no run failed
  failed,       // failed in fresh workers
  fresh,        // "new": a waiver or a quarantine was removed
  known,        // waived; has a link
  quarantined,  // has a link or a note
};

constexpr auto enum_table(LedgerEvent) {
  return enum_names<LedgerEvent>("event", {{LedgerEvent::passed, "passed"},
                                           {LedgerEvent::failed, "failed"},
                                           {LedgerEvent::fresh, "new"},
                                           {LedgerEvent::known, "known"},
                                           {LedgerEvent::quarantined, "quarantined"}});
}

struct LedgerEntry {
  std::string at;  // UTC, ISO 8601 with microseconds: such texts sort by time
  LedgerEvent event = LedgerEvent::failed;
  std::string link;  // https://...
  std::string note;  // one line

  auto operator<=>(const LedgerEntry&) const = default;
};

// The sum of all entries of a finding.
struct Ledger {
  Standing standing = Standing::fresh;
  std::string link, note;  // of the latest mark (event set by a user) that has an effect
  std::string since;       // time of the last change of the standing; "" if there is no entry

  bool operator==(const Ledger&) const = default;
};

// The standing after an event. A quarantined finding stays quarantined until the quarantine is
// removed. A fixed finding cannot be waived, because the waiver would hide a regression.
Standing after(Standing standing, LedgerEvent event);

// The ledger after these entries, which may be in any order and repeated.
Ledger ledger_of(std::vector<LedgerEntry> entries);
// The ledger at that time: later entries are ignored.
Ledger ledger_at(std::span<const LedgerEntry> entries, std::string_view time);

// The entries, sorted and without redundant ones: of several consecutive passes, or failures, only
// the first and the last remain. ledger_at() returns the same for any time, and the final standing
// is the same after any entries are added.
std::vector<LedgerEntry> compacted(std::vector<LedgerEntry> entries);

// Whether a user may add `mark` to a finding with this standing. Usage errors: a waiver without a
// link, a link that is not a URL (http or https, no spaces or control characters), a quarantine
// with neither link nor note, any mark but a quarantine on a fixed finding.
Result<void> check_mark(Standing standing, const LedgerEntry& mark);

}  // namespace redzone
