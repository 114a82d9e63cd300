// Measures how long a store of many findings takes to open, report on, merge and copy. Prints the
// times; asserts nothing about them.
//
// night_bench [FINDINGS] [NIGHTS]      (10000, 30)
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>

#include "core/campaign_record.h"
#include "nightly/describe.h"
#include "report/night_formats.h"
#include "store/database.h"
#include "store/finding_table.h"
#include "store/ledger_table.h"
#include "store/merge.h"
#include "store/sample.h"
#include "store/upkeep.h"

namespace redzone {
namespace {

using Clock = std::chrono::steady_clock;
using namespace store::testing;

template <class Body>
auto timed(const char* what, Body body) {
  const auto begun = Clock::now();
  auto result = body();
  fmt::print("{:<40} {:>8.2f} s\n", what,
             std::chrono::duration<double>(Clock::now() - begun).count());
  return result;
}

constexpr std::int64_t kNightUs = 86'400'000'000;

// The time `us` microseconds after the first night of the benchmark began.
std::string time_after(std::int64_t us) {
  const auto second = static_cast<std::time_t>(1'735'696'800 + us / 1'000'000);
  std::tm utc{};
  ::gmtime_r(&second, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", 1900 + utc.tm_year,
                     1 + utc.tm_mon, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                     us % 1'000'000);
}

// Begins night `n`; the nights follow one another by a day.
CampaignRecord begin_night(store::Store& store, int n) {
  CampaignRecord campaign = sample_campaign();
  campaign.started = time_after(n * kNightUs).substr(0, 19) + "Z";
  campaign.id = must(store.begin_campaign(campaign));
  for (const auto& begun : must(store.campaigns()))
    if (begun.id == campaign.id) campaign.uid = begun.uid;
  store::NightRun run;
  run.campaign = campaign.id;
  run.began = time_after(n * kNightUs);
  run.exit_code = 1;
  must(store::NightBook(store).begin(run));
  return campaign;
}

// One finding after `nights`: found in the first, replayed in all others; every third one is fixed
// in the last.
void add_finding(SQLite::Database& sql, int i, const std::vector<CampaignRecord>& nights) {
  Finding f = sample_finding(i);
  f.state = FindingState::confirmed;
  f.plan = plan_of(1 + i % 5, static_cast<std::uint64_t>(i));
  f.original = plan_of(9, static_cast<std::uint64_t>(i));
  f.campaign = nights.front().id;
  f.first_seen = f.last_seen = time_after(1'000'000).substr(0, 19) + "Z";
  const auto id = store::insert_finding(sql, f, nights.front().uid);
  store::add_entry(sql, id, {time_after(1'000'000 + i), LedgerEvent::failed, "", ""});
  SQLite::Statement replayed(
      sql, "INSERT INTO night_replays VALUES (?, ?, ?, 'sample', '', ?, ?, 5, '', 0.05)");
  for (std::size_t n = 1; n < nights.size(); ++n) {
    const bool fixed = i % 3 == 0 && n + 1 == nights.size();
    store::add_entry(sql, id,
                     {time_after(static_cast<std::int64_t>(n) * kNightUs + 1'000'000 + i),
                      fixed ? LedgerEvent::passed : LedgerEvent::failed, "", ""});
    replayed.bind(1, nights[n].id);
    replayed.bind(2, f.signature.hash());
    replayed.bind(3, id);
    replayed.bind(4, std::string(name_of(fixed ? ReplayOutcome::passes : ReplayOutcome::fails)));
    replayed.bind(5, fixed ? 0 : 5);
    replayed.exec();
    replayed.reset();
  }
}

// Adds `findings` findings, numbered from `first`, in one transaction: the benchmark does not
// measure the latency of commits.
bool fill(const std::filesystem::path& path, int first, int findings, int nights) {
  store::Store store = open_rw(path);
  std::vector<CampaignRecord> begun;
  for (int n = 0; n < nights; ++n) begun.push_back(begin_night(store, n));
  must(store.database().write(store::Durability::full, [&] {
    SQLite::Database& sql = store.database().sql();
    for (int i = first; i < first + findings; ++i) add_finding(sql, i, begun);
    for (int n = 0; n < nights; ++n) {
      SQLite::Statement end(sql, "UPDATE campaigns SET ended = ? WHERE id = ?");
      end.bind(1, time_after(n * kNightUs + 3'600'000'000).substr(0, 19) + "Z");
      end.bind(2, begun[static_cast<std::size_t>(n)].id);
      end.exec();
    }
  }));
  return true;
}

int run(int findings, int nights) {
  const TempDir dir;
  timed("fill", [&] { return fill(dir / "a.db", 0, findings, nights); });
  fill(dir / "b.db", findings / 2, findings, nights);
  auto opened = timed("open, read only", [&] { return open_ro(dir / "a.db"); });
  timed("all findings", [&] { return must(opened.findings()).size(); });
  const auto night = timed("describe the night", [&] {
    return must(nightly::describe_night(opened, must(nightly::latest_night(opened)), {}));
  });
  // The report must contain the replays, or the measurement is of something else.
  const auto replayed = [](const auto& f) { return f.n > 0; };
  if (std::count_if(night.findings.begin(), night.findings.end(), replayed) != findings)
    return EXIT_FAILURE;
  for (const auto& format : report::night_formats()) {
    const auto text =
        timed(fmt::format("write {}", format.file).c_str(), [&] { return format.write(night); });
    if (text.empty()) return EXIT_FAILURE;
  }
  auto into = timed("open, to write", [&] { return open_rw(dir / "c.db"); });
  for (const char* name : {"a.db", "b.db", "b.db"}) {
    auto from = open_ro(dir / name);
    const auto merged = timed(fmt::format("merge {}", name).c_str(),
                              [&] { return must(store::merge(from, into)); });
    fmt::print("  {} new findings, {} improved, {} ledger entries\n", merged.findings,
               merged.improved, merged.entries);
  }
  const auto copied = [&](const char* what, const char* from) {
    return timed(what,
                 [&] { return must(store::copy_store(dir / from, dir / "copy.db")).empty(); });
  };
  if (!copied("copy a.db", "a.db") || !copied("copy a.db over its copy", "a.db") ||
      copied("refuse to copy b.db over that of a.db", "b.db"))
    return EXIT_FAILURE;
  return must(into.findings()).size() ==
                 static_cast<std::size_t>(findings) + static_cast<std::size_t>(findings / 2)
             ? EXIT_SUCCESS
             : EXIT_FAILURE;
}

}  // namespace
}  // namespace redzone

int main(int argc, char** argv) {
  return redzone::run(argc > 1 ? std::atoi(argv[1]) : 10000, argc > 2 ? std::atoi(argv[2]) : 30);
}
