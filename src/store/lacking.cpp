#include "store/lacking.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "store/database.h"
#include "store/schema_columns.h"
#include "store/stored_rows.h"
#include "store/writer_table.h"

namespace redzone::store {
namespace {

using IdSet = std::set<std::int64_t>;

struct Held {
  std::int64_t id = 0;
  bool found = false;    // confirmed or flaky
  std::string last_run;  // UTC time of the latest ledger entry made by a run; "" if there is none
};

struct Mark {
  std::string at, event, link, note;
  auto operator<=>(const Mark&) const = default;
};

struct Begun {
  std::int64_t id = 0;
  std::string started;
};

// Contents that no command may remove.
struct Holdings {
  std::map<std::string, Held> findings;    // by hash of the signature
  std::map<Mark, std::int64_t> marks;      // each with its finding
  std::map<std::string, Begun> campaigns;  // by uid
};

// Rows of each table of kept_tables(), in its order; tables that are not compared are empty.
using TableRows = std::vector<std::vector<StoredRow>>;

Holdings holdings(SQLite::Database& sql) {
  Holdings out;
  SQLite::Statement findings(
      sql,
      "SELECT signature_hash, id, state IN ('confirmed', 'flaky'), (SELECT ifnull(max(at), '') "
      "FROM ledger WHERE finding_id = findings.id AND event IN ('passed', 'failed')) "
      "FROM findings");
  while (findings.executeStep())
    out.findings.emplace(findings.getColumn(0).getString(),
                         Held{findings.getColumn(1).getInt64(), findings.getColumn(2).getInt() != 0,
                              findings.getColumn(3).getString()});
  SQLite::Statement marks(sql,
                          "SELECT at, event, link, note, finding_id FROM ledger "
                          "WHERE event NOT IN ('passed', 'failed')");
  while (marks.executeStep())
    out.marks.emplace(Mark{marks.getColumn(0).getString(), marks.getColumn(1).getString(),
                           marks.getColumn(2).getString(), marks.getColumn(3).getString()},
                      marks.getColumn(4).getInt64());
  SQLite::Statement campaigns(sql, "SELECT uid, id, started FROM campaigns");
  while (campaigns.executeStep())
    out.campaigns.emplace(
        campaigns.getColumn(0).getString(),
        Begun{campaigns.getColumn(1).getInt64(), campaigns.getColumn(2).getString()});
  return out;
}

// Reads the given columns of each table.
TableRows rows_of_tables(SQLite::Database& sql, const Columns& columns) {
  TableRows out;
  for (const auto& table : kept_tables()) {
    const auto known = columns.find(table.name);
    out.push_back(known == columns.end() ? std::vector<StoredRow>{}
                                         : stored_rows(sql, table, known->second));
  }
  return out;
}

// Key columns of rows that are kept as long as their campaign.
Columns keys_of_nights() {
  return {{"nights", {"campaign_id"}},
          {"night_targets", {"campaign_id", "target"}},
          {"night_replays", {"campaign_id", "subject"}}};
}

std::string listed(const IdSet& ids) {
  constexpr std::ptrdiff_t kMost = 5;
  const auto all = std::ssize(ids);
  const auto last = std::next(ids.begin(), std::min(all, kMost));
  const std::string first = fmt::format("{}", fmt::join(ids.begin(), last, ", "));
  return all <= kMost ? first : fmt::format("{} and {} more", first, all - kMost);
}

class Losses {
 public:
  void add(const char* what, const IdSet& ids) {
    if (!ids.empty()) parts_.push_back(fmt::format("{} {}", what, listed(ids)));
  }
  std::string line(const Database& from, const Database& to) const {
    return parts_.empty() ? ""
                          : fmt::format("{} lacks what is in {}: {}", from.path().string(),
                                        to.path().string(), fmt::join(parts_, "; "));
  }

 private:
  std::vector<std::string> parts_;
};

// Owners of rows in `there` that are missing in `here`, except those in `told`, which are already
// reported.
IdSet owners_lacking(const std::vector<StoredRow>& here, const std::vector<StoredRow>& there,
                     const IdSet& told) {
  std::unordered_set<std::size_t> known;
  for (const auto& row : here) known.insert(row.content);
  IdSet owners;
  for (const auto& row : there)
    if (!known.contains(row.content) && !told.contains(row.owner)) owners.insert(row.owner);
  return owners;
}

// Reports each owner once: for its own row, else for the first table that lacks a row.
void add_rows(Losses& losses, const TableRows& here, const TableRows& there,
              std::map<std::string_view, IdSet> told) {
  for (std::size_t i = 0; i < kept_tables().size(); ++i) {
    const KeptTable& table = kept_tables()[i];
    const IdSet owners = owners_lacking(here[i], there[i], told[table.owner]);
    losses.add(table.what, owners);
    told[table.owner].insert(owners.begin(), owners.end());
  }
}

void add_holdings(Losses& losses, const Holdings& here, const Holdings& there) {
  IdSet gone, unmarked, behind;
  for (const auto& [signature, held] : there.findings) {
    const auto known = here.findings.find(signature);
    if (known == here.findings.end()) {
      // Triage may rename a suspect, and a prune may remove it.
      if (held.found) gone.insert(held.id);
    } else if (known->second.last_run < held.last_run) {
      behind.insert(held.id);
    }
  }
  // Compared without the finding's name, because the finding may have been merged with another one
  // since.
  for (const auto& [mark, finding] : there.marks)
    if (!here.marks.contains(mark)) unmarked.insert(finding);
  losses.add("findings", gone);
  losses.add("marks of findings", unmarked);
  losses.add("the latest runs of findings", behind);
}

// Campaigns that are missing in `here`: first those that were pruned (begun before `pruned`), then
// the others.
std::pair<IdSet, IdSet> pruned_and_gone(const Holdings& here, const Holdings& there,
                                        const std::string& pruned) {
  IdSet old, gone;
  for (const auto& [uid, begun] : there.campaigns)
    if (!here.campaigns.contains(uid)) (begun.started < pruned ? old : gone).insert(begun.id);
  return {old, gone};
}

struct Known {
  bool follows = false;
  Holdings holdings;  // set if `follows`
  TableRows rows;
};

Known known(SQLite::Database& sql, bool follows) {
  if (follows) return {true, holdings(sql), rows_of_tables(sql, keys_of_nights())};
  return {false, {}, rows_of_tables(sql, known_columns())};
}

}  // namespace

Result<std::string> lacking(Database& from, Database& to) {
  RZ_TRY_ASSIGN(const auto writers, from.read([&] { return read_writers(from.sql()); }));
  RZ_TRY_ASSIGN(const auto there,
                to.read([&] { return known(to.sql(), follows(writers, read_writers(to.sql()))); }));
  RZ_TRY_ASSIGN(const auto here, from.read([&] { return known(from.sql(), there.follows); }));
  Losses losses;
  std::map<std::string_view, IdSet> told;
  if (there.follows) {
    const auto [old, gone] = pruned_and_gone(here.holdings, there.holdings, latest_prune(writers));
    losses.add("campaigns", gone);
    add_holdings(losses, here.holdings, there.holdings);
    told["campaigns"] = old;
    told["campaigns"].insert(gone.begin(), gone.end());
  }
  add_rows(losses, here.rows, there.rows, std::move(told));
  return losses.line(from, to);
}

}  // namespace redzone::store
