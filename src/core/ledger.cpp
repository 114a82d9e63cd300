#include "core/ledger.h"

#include <fmt/format.h>

#include <algorithm>

namespace redzone {
namespace {

bool is_automatic(LedgerEvent event) {
  return event == LedgerEvent::passed || event == LedgerEvent::failed;
}

void add_entry(Ledger& ledger, const LedgerEntry& entry) {
  const Standing next = after(ledger.standing, entry.event);
  if (ledger.since.empty() || next != ledger.standing) ledger.since = entry.at;
  // Other marks have no effect (such as a waiver of a finding that another machine saw fixed
  // before), so their link and note are ignored.
  const bool holds =
      next == Standing::fresh || next == Standing::known || next == Standing::quarantined;
  if (!is_automatic(entry.event) && holds) {
    ledger.link = entry.link;
    ledger.note = entry.note;
  }
  ledger.standing = next;
}

Ledger fold(std::span<const LedgerEntry> sorted) {
  Ledger ledger;
  for (const auto& entry : sorted) add_entry(ledger, entry);
  return ledger;
}

void sort_unique(std::vector<LedgerEntry>& entries) {
  std::sort(entries.begin(), entries.end());
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
}

bool is_printable(std::string_view text, char from) {
  return std::none_of(text.begin(), text.end(), [from](char c) {
    return static_cast<unsigned char>(c) < static_cast<unsigned char>(from) || c == 0x7f;
  });
}

bool is_link(std::string_view text) {
  constexpr std::size_t kLongest = 2000;
  for (const std::string_view scheme : {"https://", "http://"})
    if (text.starts_with(scheme))
      return text.size() > scheme.size() && text.size() <= kLongest && is_printable(text, '!');
  return false;
}

}  // namespace

Standing after(Standing standing, LedgerEvent event) {
  switch (event) {
    case LedgerEvent::passed:
      return standing == Standing::quarantined ? standing : Standing::fixed;
    case LedgerEvent::failed:
      return standing == Standing::fixed ? Standing::regressed : standing;
    case LedgerEvent::fresh:
      return standing == Standing::fixed ? standing : Standing::fresh;
    case LedgerEvent::known:
      return standing == Standing::fixed ? standing : Standing::known;
    case LedgerEvent::quarantined:
      return Standing::quarantined;
  }
  return standing;
}

Ledger ledger_of(std::vector<LedgerEntry> entries) {
  sort_unique(entries);
  return fold(entries);
}

Ledger ledger_at(std::span<const LedgerEntry> entries, std::string_view time) {
  std::vector<LedgerEntry> until;
  for (const auto& entry : entries)
    if (entry.at <= time) until.push_back(entry);
  return ledger_of(std::move(until));
}

std::vector<LedgerEntry> compacted(std::vector<LedgerEntry> entries) {
  sort_unique(entries);
  std::vector<LedgerEntry> out;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const LedgerEvent event = entries[i].event;
    const bool inside = is_automatic(event) && i > 0 && i + 1 < entries.size() &&
                        entries[i - 1].event == event && entries[i + 1].event == event;
    if (!inside) out.push_back(entries[i]);
  }
  return out;
}

Result<void> check_mark(Standing standing, const LedgerEntry& mark) {
  if (!mark.link.empty() && !is_link(mark.link))
    return usage_error(fmt::format("'{}' is not a link: https://... without spaces is expected",
                                   mark.link.substr(0, 80)));
  if (!is_printable(mark.note, ' ')) return usage_error("the reason must be one line of text");
  if (mark.event == LedgerEvent::known && mark.link.empty())
    return usage_error("a waiver needs a link to the bug report: --link URL");
  if (mark.event == LedgerEvent::quarantined && mark.link.empty() && mark.note.empty())
    return usage_error("a quarantine needs a link or a reason: --link URL or --reason TEXT");
  if (standing == Standing::fixed && mark.event != LedgerEvent::quarantined)
    return usage_error("the finding is fixed: a mark would hide a regression");
  return {};
}

}  // namespace redzone
