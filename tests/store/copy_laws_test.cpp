// Invariants of copies: for any two stores, a copy keeps all rows or refuses and leaves the file
// unchanged, byte for byte; a merge keeps all rows of both. Rows that a prune removed from a store
// may be missing when it replaces an older copy.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "store/few_runs.h"
#include "store/merge.h"
#include "store/night.h"
#include "store/sample.h"
#include "store/upkeep.h"

namespace redzone::store {
namespace {

using namespace testing;
using Things = std::set<std::string>;

// The contents of a store as a user sees them. Everything ever written has a unique name.
Things things_in(const std::filesystem::path& path) {
  Store store = open_ro(path);
  NightBook book(store);
  Things out;
  for (const auto& c : must(store.campaigns())) {
    out.insert("campaign " + c.uid);
    for (const auto& r : must(book.replays(c.id))) out.insert("replay " + r.subject);
    for (const auto& t : must(book.targets(c.id))) out.insert("target " + t.target);
  }
  for (const auto& run : must(book.runs())) out.insert("night " + run.commit);
  for (const auto& f : must(store.findings())) {
    out.insert("finding " + f.signature.where + " " + f.oracle);
    for (const auto& e : must(store.entries(f.id)))
      if (e.event == LedgerEvent::known) out.insert("mark " + e.note);
    for (const auto& t : must(store.trials(f.id))) out.insert("trial " + t.purpose);
    for (const auto& a : must(store.artifacts(f.id))) out.insert("artifact " + a.name);
    for (const auto& p : must(store.probes({f.id, "host", "c0de"})))
      out.insert("probe " + p.plan_hash);
  }
  return out;
}

// A store, and the things that prunes removed from it and from those that it was copied or merged
// from.
struct Kept {
  std::filesystem::path file;
  Things pruned;
};

class Play {
 public:
  Play() : stores_{Kept{dir_ / "a.db", {}}, Kept{dir_ / "b.db", {}}} {
    for (const Kept& kept : stores_) open_rw(kept.file);
  }

  void act(int choice) {
    Kept& one = stores_[static_cast<std::size_t>(choice % 2)];
    Kept& other = stores_[static_cast<std::size_t>(1 - choice % 2)];
    const int what = choice / 2 % 16;
    if (what == 0) return copy(one, other);
    if (what == 1) return prune_all(one);
    if (what == 2) return merge_in(other, one);
    write(one, what, choice / 32);
  }

  // Copies; the copy must keep everything or be refused.
  void copy(Kept& from, Kept& to) {
    const std::string before = bytes_of(to.file);
    const Things here = things_in(from.file), there = things_in(to.file);
    Things lost;
    std::set_difference(there.begin(), there.end(), here.begin(), here.end(),
                        std::inserter(lost, lost.end()));
    for (const auto& thing : from.pruned) lost.erase(thing);
    const auto wrong = must(copy_store(from.file, to.file));
    RC_ASSERT(wrong.size() <= 1u);
    if (!lost.empty()) RC_ASSERT(wrong.size() == 1u);
    if (wrong.empty()) {
      RC_ASSERT(things_in(to.file) == here);
      to.pruned.insert(from.pruned.begin(), from.pruned.end());
    } else {
      RC_ASSERT(bytes_of(to.file) == before);
      RC_ASSERT(wrong[0].find(" lacks what is in ") != std::string::npos);
    }
    copied_ = wrong.empty();
  }

  // After any changes of a store, it may replace its older copy, so the nightly job can continue.
  void expect_a_copy_gives_way(const std::vector<int>& more) {
    Kept& one = stores_[0];
    Kept older{dir_ / "older.db", {}};
    RC_ASSERT(must(copy_store(one.file, older.file)).empty());
    for (const int choice : more) {
      if (choice % 5 == 0)
        prune_all(one);
      else if (choice % 5 == 1)
        merge_in(stores_[1], one);
      else
        write(one, 3 + choice % 13, choice / 13);
    }
    copy(one, older);
    RC_ASSERT(copied_);
  }

 private:
  void prune_all(Kept& kept) {
    const Things before = things_in(kept.file);
    Store store = open_rw(kept.file);
    must(prune(store, 0));
    const Things after = things_in(kept.file);
    std::set_difference(before.begin(), before.end(), after.begin(), after.end(),
                        std::inserter(kept.pruned, kept.pruned.end()));
  }

  void merge_in(const Kept& from, Kept& into) {
    const Things before = things_in(into.file), source = things_in(from.file);
    {
      Store one = open_ro(from.file), other = open_rw(into.file);
      must(merge(one, other));
    }
    const Things after = things_in(into.file);
    for (const Things& held : {before, source})
      RC_ASSERT(std::includes(after.begin(), after.end(), held.begin(), held.end()));
    into.pruned.insert(from.pruned.begin(), from.pruned.end());
  }

  void write(const Kept& kept, int what, int which) {
    Store store = open_rw(kept.file);
    NightBook book(store);
    const std::string name = std::to_string(++names_);
    if (what < 7) {
      NightRun run;
      run.campaign = must(store.begin_campaign(sample_campaign()));
      run.commit = name;
      if (what > 3) must(book.begin(run));
      if (what > 4)
        must(
            book.replayed(run.campaign, {name, {}, "t", "", ReplayOutcome::passes, {0, 5}, "", 0}));
      if (what > 5) must(book.target(run.campaign, {{1, 1, 1, 0, 0, 0, 0, 1}, name, 1, ""}));
      must(store.end_campaign(run.campaign, {}));
    } else if (what < 10) {
      Finding f = sample_finding(which % 3);
      f.state = static_cast<FindingState>(which / 3 % 4);
      f.oracle = "of one build";
      must(store.record(f));
    } else {
      evidence(store, what, which, name);
    }
  }

  void evidence(Store& store, int what, int which, const std::string& name) {
    const auto findings = must(store.findings());
    if (findings.empty()) return;
    const Finding& f = findings[static_cast<std::size_t>(which) % findings.size()];
    if (what < 12)
      must(store.enter(f.id, {"", LedgerEvent::known, "https://x/1", name}));
    else if (what < 13)
      must(store.add_trial(f.id, name, f.plan, {}, {}, {}));
    else if (what < 14)
      must(store.add_artifact(f.id, "log", name, "words"));
    else
      must(store.add_probe({f.id, "host", "c0de"}, plan_of(1, static_cast<std::uint64_t>(names_)),
                           {"", 3, 0, 1, 0, ""}));
  }

  const TempDir dir_;
  std::array<Kept, 2> stores_;
  int names_ = 0;
  bool copied_ = false;
};

rc::Gen<std::vector<int>> copy_choices() {
  return rc::gen::resize(20, rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 32 * 36)));
}

using CopyLaws = FewRuns;

TEST_F(CopyLaws, ACopyKeepsAllOrRefuses) {
  EXPECT_TRUE(rc::check("nothing is lost", [] {
    Play play;
    for (const int choice : *copy_choices()) play.act(choice);
    play.act(0);
    play.act(1);
  }));
}

TEST_F(CopyLaws, AnOlderCopyGivesWay) {
  EXPECT_TRUE(rc::check("to whatever became of the store", [] {
    Play play;
    for (const int choice : *copy_choices()) play.act(choice);
    play.expect_a_copy_gives_way(*copy_choices());
  }));
}

}  // namespace
}  // namespace redzone::store
