// How long a store of many findings takes to open, to report on and to merge. Prints; asserts
// nothing about time.
//
//   night_bench [FINDINGS] [NIGHTS]      (10000, 30)
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>

#include "cli/night_report.h"
#include "report/night_formats.h"
#include "store/database.h"
#include "store/finding_table.h"
#include "store/ledger_table.h"
#include "store/merge.h"
#include "store/sample.h"

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

// Findings `first`.. of so many, seen and replayed in all nights; one transaction for all, since
// what is measured is not how often the disk is asked.
bool fill(const std::filesystem::path& path, int first, int findings, int nights) {
  store::Store store = open_rw(path);
  store::NightBook book(store);
  for (int n = 0; n < nights; ++n) {
    store::NightRun run;
    run.campaign = must(store.begin_campaign(sample_campaign()));
    run.exit_code = 1;
    must(book.begin(run));
    must(store.end_campaign(run.campaign, {}));
  }
  must(store.database().write(store::Durability::full, [&] {
    SQLite::Database& sql = store.database().sql();
    for (int i = first; i < first + findings; ++i) {
      store::Finding f = sample_finding(i);
      f.state = store::State::confirmed;
      f.plan = plan_of(1 + i % 5, static_cast<std::uint64_t>(i));
      f.original = plan_of(9, static_cast<std::uint64_t>(i));
      f.campaign = 1;
      const auto id = store::insert_finding(sql, f, "");
      for (int n = 0; n < nights; ++n)
        store::add_entry(
            sql, id,
            {fmt::format("2025-02-{:02}T00:00:00.000000Z", 1 + n % 28),
             i % 3 == 0 && n == nights - 1 ? LedgerEvent::passed : LedgerEvent::failed, "", ""});
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
    return must(cli::describe_night(opened, must(cli::latest_night(opened)), ""));
  });
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
