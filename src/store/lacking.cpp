#include "store/lacking.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>

#include "store/database.h"

namespace redzone::store {
namespace {

struct Held {
  std::int64_t id = 0;
  bool found = false;    // confirmed or flaky
  std::string last_run;  // UTC, of its latest entry that no person made; "" without one
};

struct Mark {
  std::string at, event, link, note;
  auto operator<=>(const Mark&) const = default;
};

struct Holdings {
  std::map<std::string, Held> findings;  // by hash of the signature
  std::map<Mark, std::int64_t> marks;    // each with its finding
  bool fresh = false;                    // it has never held a campaign or a finding
};

Result<Holdings> holdings(Database& store) {
  return store.read([&] {
    SQLite::Database& sql = store.sql();
    Holdings out;
    SQLite::Statement findings(
        sql,
        "SELECT signature_hash, id, state IN ('confirmed', 'flaky'), (SELECT ifnull(max(at), '') "
        "FROM ledger WHERE finding_id = findings.id AND event IN ('passed', 'failed')) "
        "FROM findings");
    while (findings.executeStep())
      out.findings.emplace(
          findings.getColumn(0).getString(),
          Held{findings.getColumn(1).getInt64(), findings.getColumn(2).getInt() != 0,
               findings.getColumn(3).getString()});
    SQLite::Statement marks(sql,
                            "SELECT at, event, link, note, finding_id FROM ledger "
                            "WHERE event NOT IN ('passed', 'failed')");
    while (marks.executeStep())
      out.marks.emplace(Mark{marks.getColumn(0).getString(), marks.getColumn(1).getString(),
                             marks.getColumn(2).getString(), marks.getColumn(3).getString()},
                        marks.getColumn(4).getInt64());
    // SQLite keeps a row for each table of this kind that ever had one, also when it was emptied.
    out.fresh = sql.execAndGet(
                       "SELECT count(*) FROM sqlite_sequence WHERE name IN ('campaigns', "
                       "'findings')")
                    .getInt64() == 0;
    return out;
  });
}

std::string listed(const std::set<std::int64_t>& ids) {
  constexpr std::ptrdiff_t kMost = 5;
  const auto all = std::ssize(ids);
  const auto last = std::next(ids.begin(), std::min(all, kMost));
  const std::string first = fmt::format("{}", fmt::join(ids.begin(), last, ", "));
  return all <= kMost ? first : fmt::format("{} and {} more", first, all - kMost);
}

}  // namespace

Result<std::vector<std::string>> lacking(Database& from, Database& to) {
  const auto here = holdings(from), there = holdings(to);
  if (!here) return tl::unexpected(here.error());
  if (!there) return tl::unexpected(there.error());
  std::set<std::int64_t> gone, unmarked, behind;
  for (const auto& [signature, held] : there->findings) {
    const auto known = here->findings.find(signature);
    if (known == here->findings.end()) {
      // What is no more than suspected is renamed by triage, or pruned.
      if (held.found || here->fresh) gone.insert(held.id);
    } else if (known->second.last_run < held.last_run) {
      behind.insert(held.id);
    }
  }
  // Wherever it is: the finding that was marked may have become one with another.
  for (const auto& [mark, finding] : there->marks)
    if (!here->marks.contains(mark)) unmarked.insert(finding);
  std::vector<std::string> lines;
  const auto tell = [&](const char* what, const std::set<std::int64_t>& findings) {
    if (!findings.empty())
      lines.push_back(fmt::format("{} lacks {} of {}: {}", from.path().string(), what,
                                  to.path().string(), listed(findings)));
  };
  tell("findings", gone);
  tell("marks of findings", unmarked);
  tell("the latest runs of findings", behind);
  return lines;
}

}  // namespace redzone::store
