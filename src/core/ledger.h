// The ledger of a finding: what people decided about it and what later runs showed of it.
//
// What is kept are events; the standing is computed from them. So ledgers of several machines are
// merged by taking all events of each, in any order and any number of times.
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
  fresh,        // "new": nobody has said anything of it
  known,        // waived, with a link to where it is being dealt with
  fixed,        // a later build passes what failed
  regressed,    // it failed again after it was fixed
  quarantined,  // never launched: it wedges the machine
};

constexpr auto enum_table(Standing) {
  return enum_names<Standing>("standing", {{Standing::fresh, "new"},
                                           {Standing::known, "known"},
                                           {Standing::fixed, "fixed"},
                                           {Standing::regressed, "regressed"},
                                           {Standing::quarantined, "quarantined"}});
}

// A person has decided how the finding is dealt with; it makes no run and no night fail.
inline bool is_waived(Standing standing) {
  return standing == Standing::known || standing == Standing::quarantined;
}

enum class LedgerEvent : std::uint8_t {
  passed,       // replayed, and as often as it takes no run failed
  failed,       // seen in fresh workers
  fresh,        // "new": a waiver or a quarantine is taken back
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
  std::string link, note;  // of the latest mark
  std::string since;       // when the standing became what it is; "" where there is no entry

  bool operator==(const Ledger&) const = default;
};

// Where an event leads. Whatever is quarantined stays so until it is taken back, and what is fixed
// cannot be waived: that would hide its return.
Standing after(Standing standing, LedgerEvent event);

// Entries in any order, with or without repetitions.
Ledger ledger_of(std::vector<LedgerEntry> entries);
// As it was at that time; entries after it do not count.
Ledger ledger_at(std::span<const LedgerEntry> entries, std::string_view time);

// The entries without those that say nothing, sorted: of several in a row that passed, or that
// failed, the first and the last stay. The ledger at any time is the same; and whatever is added,
// the standing at the end is.
std::vector<LedgerEntry> compacted(std::vector<LedgerEntry> entries);

// Whether a person may mark a finding of this standing so. Usage errors: a waiver without a link, a
// link that is not a URL (http or https, no spaces or control characters), a quarantine without
// link and note, a mark on a fixed finding.
Result<void> check_mark(Standing standing, const LedgerEntry& mark);

}  // namespace redzone
