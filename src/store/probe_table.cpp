#include "store/probe_table.h"

#include "core/utc.h"
#include "store/columns.h"
#include "store/finding_table.h"
#include "store/row.h"

namespace redzone::store {

void add_probe_runs(SQLite::Database& sql, const ProbeKey& key, const Plan& plan,
                    const ProbeRecord& runs) {
  SQLite::Statement add(
      sql,
      "INSERT INTO probes (finding_id, plan_id, device, code_hash, failed_runs, otherwise, passed, "
      "unjudged, said, last_run) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) "
      "ON CONFLICT DO UPDATE SET failed_runs = failed_runs + ?5, otherwise = otherwise + ?6, "
      "passed = passed + ?7, unjudged = unjudged + ?8, "
      "said = CASE ?9 WHEN '' THEN said ELSE ?9 END, last_run = ?10");
  add.bind(1, key.finding);
  add.bind(2, plan_row(sql, plan));
  add.bind(3, key.device);
  add.bind(4, key.code_hash);
  add.bind(5, runs.same);
  add.bind(6, runs.other);
  add.bind(7, runs.passed);
  add.bind(8, runs.unjudged);
  add.bind(9, cut_text(runs.said));
  add.bind(10, utc_now());
  add.exec();
}

std::vector<ProbeKey> probe_keys(SQLite::Database& sql) {
  SQLite::Statement query(
      sql, "SELECT DISTINCT finding_id, device, code_hash FROM probes ORDER BY 1, 2, 3");
  std::vector<ProbeKey> keys;
  while (query.executeStep()) {
    RowReader reader(query, "a probe");
    ProbeKey& key = keys.emplace_back();
    key.finding = reader.integer();
    key.device = reader.text();
    key.code_hash = reader.text();
  }
  return keys;
}

std::vector<ProbeRecord> read_probes(SQLite::Database& sql, const ProbeKey& key) {
  SQLite::Statement query(
      sql,
      "SELECT p.hash, r.failed_runs, r.otherwise, r.passed, r.unjudged, r.said FROM probes r "
      "LEFT JOIN plans p ON p.id = r.plan_id WHERE r.finding_id = ? AND r.device = ? AND "
      "r.code_hash = ? ORDER BY p.hash");
  query.bind(1, key.finding);
  query.bind(2, key.device);
  query.bind(3, key.code_hash);
  std::vector<ProbeRecord> probes;
  while (query.executeStep()) {
    RowReader reader(query, fmt::format("a probe of finding {}", key.finding));
    ProbeRecord& probe = probes.emplace_back();
    probe.plan_hash = reader.text();
    for (std::int64_t* count : {&probe.same, &probe.other, &probe.passed, &probe.unjudged})
      *count = reader.integer();
    probe.said = reader.text();
    reader.holds(are_counts(probe.same, probe.other, probe.passed, probe.unjudged) &&
                     probe.same + probe.other + probe.passed + probe.unjudged <= kMostRuns,
                 "it has a negative count");
  }
  return probes;
}

}  // namespace redzone::store
