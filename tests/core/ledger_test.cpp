// Invariants of the ledger: the state after each event, and independence of the order of arrival.
#include "core/ledger.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

namespace redzone {
namespace {

constexpr std::array kStandings{Standing::fresh, Standing::known, Standing::fixed,
                                Standing::regressed, Standing::quarantined};
constexpr std::array kEvents{LedgerEvent::passed, LedgerEvent::failed, LedgerEvent::fresh,
                             LedgerEvent::known, LedgerEvent::quarantined};

// Few times, so that entries collide.
rc::Gen<LedgerEntry> entry() {
  return rc::gen::map(rc::gen::pair(rc::gen::inRange(10, 30), rc::gen::elementOf(kEvents)),
                      [](const std::pair<int, LedgerEvent>& p) {
                        LedgerEntry e{"2025-01-" + std::to_string(p.first), p.second, "", ""};
                        if (p.second == LedgerEvent::known) e.link = "https://x/" + e.at;
                        if (p.second == LedgerEvent::quarantined) e.note = "wedges";
                        return e;
                      });
}
using Entries = std::vector<LedgerEntry>;
rc::Gen<Entries> any_entries() {
  return rc::gen::container<Entries>(entry());
}

Entries joined(Entries a, const Entries& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(Ledger, TheLifeOfABug) {
  Standing s = Standing::fresh;
  const auto step = [&](LedgerEvent event) { return s = after(s, event); };
  EXPECT_EQ(step(LedgerEvent::failed), Standing::fresh);
  EXPECT_EQ(step(LedgerEvent::known), Standing::known);
  EXPECT_EQ(step(LedgerEvent::failed), Standing::known);
  EXPECT_EQ(step(LedgerEvent::passed), Standing::fixed);
  EXPECT_EQ(step(LedgerEvent::failed), Standing::regressed);
  EXPECT_EQ(step(LedgerEvent::failed), Standing::regressed);
  EXPECT_EQ(step(LedgerEvent::known), Standing::known);
  EXPECT_EQ(step(LedgerEvent::quarantined), Standing::quarantined);
  EXPECT_EQ(step(LedgerEvent::passed), Standing::quarantined);
  EXPECT_EQ(step(LedgerEvent::failed), Standing::quarantined);
  EXPECT_EQ(step(LedgerEvent::fresh), Standing::fresh);
}

TEST(Ledger, AnEventTwiceIsTheEventOnce) {
  for (const auto s : kStandings)
    for (const auto e : kEvents) EXPECT_EQ(after(after(s, e), e), after(s, e));
}

TEST(Ledger, OnlyAReplayThatPassesMakesFixedAndOnlyAFailureRegressed) {
  for (const auto s : kStandings)
    for (const auto e : kEvents) {
      if (after(s, e) == Standing::fixed && s != Standing::fixed) {
        EXPECT_EQ(e, LedgerEvent::passed);
      }
      if (after(s, e) == Standing::regressed && s != Standing::regressed) {
        EXPECT_EQ(e, LedgerEvent::failed);
        EXPECT_EQ(s, Standing::fixed);
      }
    }
}

TEST(Ledger, OrderAndRepetitionOfArrivalDoNotMatter) {
  EXPECT_TRUE(rc::check("a set of entries has one ledger", [] {
    const Entries a = *any_entries(), b = *any_entries();
    RC_ASSERT(ledger_of(joined(a, b)) == ledger_of(joined(b, joined(a, b))));
  }));
}

TEST(Ledger, KnownHasALink) {
  EXPECT_TRUE(rc::check("what is known has a link", [] {
    const Ledger ledger = ledger_of(*any_entries());
    if (ledger.standing == Standing::known) RC_ASSERT(!ledger.link.empty());
    if (ledger.standing == Standing::quarantined) RC_ASSERT(!ledger.note.empty());
  }));
}

TEST(Ledger, CompactionKeepsTheLedgerAtAnyTime) {
  EXPECT_TRUE(rc::check("compacted entries say the same", [] {
    const Entries all = *any_entries(), more = *any_entries();
    const Entries few = compacted(all);
    RC_ASSERT(compacted(few) == few);
    for (int day = 10; day <= 31; ++day) {
      const std::string time = "2025-01-" + std::to_string(day);
      RC_ASSERT(ledger_at(all, time) == ledger_at(few, time));
    }
    RC_ASSERT(ledger_of(joined(all, more)).standing == ledger_of(joined(few, more)).standing);
  }));
}

TEST(Ledger, AWaiverNeedsALink) {
  const auto refused = [](Standing standing, const LedgerEntry& mark) {
    const auto checked = check_mark(standing, mark);
    return !checked && checked.error().kind == ErrorKind::usage;
  };
  EXPECT_TRUE(refused(Standing::fresh, {"", LedgerEvent::known, "", "we know"}));
  for (const char* link : {"javascript:alert(1)", "https://", "https://a b", "https://a\nb",
                           "see the wiki", "http://\x7f", "https://a\x1b[0m"})
    EXPECT_TRUE(refused(Standing::fresh, {"", LedgerEvent::known, link, ""})) << link;
  EXPECT_TRUE(refused(Standing::fresh, {"", LedgerEvent::quarantined, "", ""}));
  EXPECT_TRUE(refused(Standing::fresh, {"", LedgerEvent::quarantined, "", "two\nlines"}));
  EXPECT_TRUE(refused(Standing::fixed, {"", LedgerEvent::known, "https://a/1", ""}));
  EXPECT_TRUE(refused(Standing::fixed, {"", LedgerEvent::fresh, "", ""}));
  EXPECT_TRUE(check_mark(Standing::fresh, {"", LedgerEvent::known, "https://a/1", ""}));
  EXPECT_TRUE(check_mark(Standing::regressed, {"", LedgerEvent::known, "http://a/1?b=c#d", "x"}));
  EXPECT_TRUE(check_mark(Standing::fixed, {"", LedgerEvent::quarantined, "", "hangs the machine"}));
  EXPECT_TRUE(check_mark(Standing::quarantined, {"", LedgerEvent::fresh, "", ""}));
}

}  // namespace
}  // namespace redzone
