#include "store/store.h"

#include <algorithm>

#include "core/campaign_record.h"
#include "core/repro_worth.h"
#include "core/uid.h"
#include "core/utc.h"
#include "store/columns.h"
#include "store/database.h"
#include "store/evidence_table.h"
#include "store/finding_table.h"
#include "store/import.h"
#include "store/ledger_table.h"
#include "store/probe_table.h"
#include "store/row.h"
#include "store/schema.h"

namespace redzone::store {
namespace {

// Whether the stored finding is better than `found`, which has the same signature. A suspect is
// never better: even "did not recur" is more information.
bool better(const Finding& stored, const Finding& found) {
  return stored.state != FindingState::suspect && worth_of(stored) > worth_of(found);
}

void write_stats(Database& db, std::int64_t id, const CampaignStats& stats,
                 const std::string& ended) {
  require_row(db, "campaigns", "campaign", id);
  RowWriter row;
  columns(row, stats);
  if (!ended.empty()) row("ended", ended);
  row.update(db.sql(), "campaigns", id);
}

Ledger enter_row(SQLite::Database& sql, std::int64_t finding, const LedgerEntry& entry) {
  add_entry(sql, finding, entry);
  return ledger_of(read_entries(sql, finding));
}

Recorded record_row(Database& db, const Finding& finding, const std::string& campaign) {
  SQLite::Database& sql = db.sql();
  Finding seen = finding;
  if (seen.first_seen.empty()) seen.first_seen = utc_now();
  if (seen.last_seen.empty()) seen.last_seen = std::max(seen.first_seen, utc_now());
  seen.id = finding_id(sql, seen.signature);
  if (seen.id == 0) return {insert_finding(sql, seen, campaign), true, false, seen.state};

  count_occurrences(sql, seen.id, campaign, 1, seen.last_seen);
  const Finding known = load_finding(db, seen.id);
  // An unconfirmed finding that is seen again is updated, whichever plan showed it.
  const bool again = known.state == FindingState::unconfirmed && seen.state != known.state;
  const bool worse = rank_of(seen.state) < rank_of(known.state);
  if (!again && (worse || !is_smaller(seen.plan, known.plan)))
    return {seen.id, false, false, known.state};
  update_finding(sql, seen);
  return {seen.id, false, true, seen.state};
}

std::string latest_moment(SQLite::Database& sql) {
  SQLite::Statement query(sql,
                          "SELECT ifnull(max(t), '') FROM (SELECT max(at) AS t FROM ledger "
                          "UNION ALL SELECT max(began) FROM nights)");
  query.executeStep();
  return std::max(utc_now_us(), just_after(query.getColumn(0).getString()));
}

}  // namespace

Store::Store(std::unique_ptr<Database> database) : database_(std::move(database)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const std::filesystem::path& path, OpenMode mode,
                          const OpenOptions& options) {
  RZ_TRY_ASSIGN(auto database, Database::open(path, mode, options, migrations()));
  return Store(std::move(database));
}

Result<std::variant<Store, std::string>> Store::examine(const std::filesystem::path& path,
                                                        const OpenOptions& options) {
  RZ_TRY_ASSIGN(auto examined, Database::examine(path, options, migrations()));
  if (auto* damage = std::get_if<std::string>(&examined)) return std::move(*damage);
  return Store(std::get<std::unique_ptr<Database>>(std::move(examined)));
}

Result<std::string> Store::moment() {
  return database_->read([&] { return latest_moment(database_->sql()); });
}

Result<std::int64_t> Store::begin_campaign(const CampaignRecord& campaign) {
  CampaignRecord named = campaign;
  named.uid = new_uid();
  return begin_named(std::move(named));
}

Result<std::int64_t> Store::begin_named(CampaignRecord started) {
  return database_->write(Durability::full, [&] {
    if (started.started.empty()) started.started = utc_now();
    RowWriter row;
    columns(row, started);
    const std::int64_t id = row.insert(database_->sql(), "campaigns");
    campaign_ = started.uid;
    began_ = latest_moment(database_->sql());
    return id;
  });
}

Result<CampaignRecord> Store::campaign(std::int64_t id) {
  return database_->read([&] {
    require_row(*database_, "campaigns", "campaign", id);
    return read_campaign(database_->sql(), id);
  });
}

Result<CampaignRecord> Store::resume_campaign(std::int64_t id) {
  auto campaign = this->campaign(id);
  if (!campaign) return campaign;
  RZ_TRY_ASSIGN(auto now, moment());
  campaign_ = campaign->uid;
  began_ = std::move(now);
  return campaign;
}

Result<CampaignRecord> Store::join_campaign(const CampaignRecord& campaign) {
  RZ_TRY_ASSIGN(const auto known, database_->read([&] {
    RowWriter key;
    key("uid", campaign.uid);
    return key.find(database_->sql(), "campaigns");
  }));
  if (known != 0) return resume_campaign(known);
  RZ_TRY_ASSIGN(const auto id, begin_named(campaign));
  return this->campaign(id);
}

Result<std::int64_t> Store::occurrences(std::int64_t finding) {
  return database_->read([&] {
    SQLite::Statement query(database_->sql(),
                            "SELECT ifnull(sum(plans), 0) FROM occurrences "
                            "WHERE finding_id = ? AND campaign = ?");
    query.bind(1, finding);
    query.bind(2, campaign_);
    query.executeStep();
    return query.getColumn(0).getInt64();
  });
}

Result<void> Store::update_campaign(std::int64_t id, const CampaignStats& stats) {
  return database_->write(Durability::lazy, [&] { write_stats(*database_, id, stats, ""); });
}

Result<void> Store::end_campaign(std::int64_t id, const CampaignStats& stats) {
  return database_->write(Durability::full, [&] {
    const std::string end = latest_moment(database_->sql());
    write_stats(*database_, id, stats, end.substr(0, end.find('.')) + "Z");
  });
}

Result<std::vector<CampaignRecord>> Store::campaigns() {
  return database_->read([&] { return read_campaigns(database_->sql()); });
}

Result<Recorded> Store::record(const Finding& finding) {
  return database_->write(Durability::full,
                          [&] { return record_row(*database_, finding, campaign_); });
}

Result<std::vector<Recorded>> record_all(Store& store, std::span<const Finding> findings) {
  Database& db = store.database();
  return db.write(Durability::full, [&] {
    std::vector<Recorded> recorded;
    for (const auto& finding : findings) recorded.push_back(record_row(db, finding, ""));
    return recorded;
  });
}

Result<void> Store::update(const Finding& finding) {
  return database_->write(Durability::full, [&] {
    const Finding known = load_finding(*database_, finding.id);
    if (known.signature != finding.signature)
      throw Failure{
          {ErrorKind::harness, fmt::format("finding {} is '{}', it cannot become '{}'", finding.id,
                                           known.signature.text(), finding.signature.text())}};
    update_finding(database_->sql(), finding);
  });
}

Result<Recorded> Store::settle(const Finding& finding, bool own) {
  return database_->write(Durability::full, [&]() -> Recorded {
    Recorded settled = settle_row(finding, own);
    const auto standing = [&] {
      return ledger_of(read_entries(database_->sql(), settled.id)).standing;
    };
    const Standing before = standing();
    if (was_found(finding.state)) enter_failure(settled.id);
    const bool regressed = before == Standing::fixed && standing() == Standing::regressed;
    settled.is_new = regressed || (settled.is_new && before == Standing::fresh);
    return settled;
  });
}

Recorded Store::settle_row(const Finding& finding, bool own) {
  SQLite::Database& sql = database_->sql();
  const bool exists = has_row(sql, "findings", finding.id);
  const std::int64_t other = finding_id(sql, finding.signature);
  Finding after = finding;
  const bool mine = exists && own;
  if (other == 0 && !mine) {
    if (after.first_seen.empty()) after.first_seen = utc_now();
    if (after.last_seen.empty()) after.last_seen = utc_now();
    return {insert_finding(sql, after, campaign_), was_found(after.state), false, after.state};
  }
  const bool renamed = other == 0;
  if (renamed) {
    rename_finding(sql, finding.id, finding.signature);
  } else if (other != finding.id) {
    if (mine)
      merge_finding(sql, finding.id, other);
    else
      count_occurrences(sql, other, campaign_, 1, utc_now());
    prune_trials(sql, other, kTrialsPerFinding);
    after.id = other;
  }
  const Finding stored = load_finding(*database_, after.id);
  const bool is_new = !was_found(stored.state);
  if (!renamed && better(stored, after)) return {after.id, is_new, false, stored.state};
  update_finding(sql, after);
  return {after.id, is_new, true, after.state};
}

// Triage reports a finding several times; one ledger entry per campaign is enough.
void Store::enter_failure(std::int64_t finding) {
  const auto entries = read_entries(database_->sql(), finding);
  if (!began_.empty() && !entries.empty() && entries.back().event == LedgerEvent::failed &&
      entries.back().at >= began_)
    return;
  add_entry(database_->sql(), finding, {moment_of(entries), LedgerEvent::failed, "", ""});
}

std::string Store::moment_of(std::span<const LedgerEntry> entries) const {
  const std::string now = std::max(utc_now_us(), began_);
  return entries.empty() ? now : std::max(now, just_after(entries.back().at));
}

Result<Ledger> Store::enter(std::int64_t finding, LedgerEntry entry) {
  return database_->write(Durability::full, [&] {
    require_row(*database_, "findings", "finding", finding);
    if (entry.at.empty()) entry.at = moment_of(read_entries(database_->sql(), finding));
    return enter_row(database_->sql(), finding, entry);
  });
}

Result<Ledger> Store::mark(std::int64_t finding, const LedgerEntry& entry) {
  RZ_TRY_ASSIGN(auto known, entries(finding));
  if (const auto allowed = check_mark(ledger_of(known).standing, entry); !allowed)
    return tl::unexpected(Error{allowed.error().kind,
                                fmt::format("finding {}: {}", finding, allowed.error().message)});
  return database_->write(Durability::full, [&] {
    LedgerEntry dated = entry;
    if (dated.at.empty()) dated.at = moment_of(read_entries(database_->sql(), finding));
    Ledger ledger = enter_row(database_->sql(), finding, dated);
    // A mark with an earlier time may be followed by other marks.
    const bool is_latest = entry.at.empty();
    if (is_latest && (ledger.standing != after(Standing::fresh, entry.event) ||
                      ledger.link != entry.link || ledger.note != entry.note))
      throw Failure{{ErrorKind::harness, fmt::format("finding {} stays {}: the mark was not stored",
                                                     finding, name_of(ledger.standing))}};
    return ledger;
  });
}

Result<std::map<std::int64_t, std::vector<LedgerEntry>>> Store::all_entries() {
  return database_->read([&] { return read_all_entries(database_->sql()); });
}

Result<std::vector<Quarantined>> Store::quarantined() {
  return database_->read([&] {
    std::vector<Quarantined> out;
    for (auto& [id, entries] : read_all_entries(database_->sql())) {
      const Ledger ledger = ledger_of(std::move(entries));
      if (ledger.standing != Standing::quarantined) continue;
      SQLite::Statement query(
          database_->sql(),
          fmt::format("SELECT {} FROM findings f WHERE id = ?", column_list<Signature>("f")));
      query.bind(1, id);
      query.executeStep();
      RowReader reader(query, fmt::format("finding {}", id));
      Quarantined& q = out.emplace_back();
      q.finding = id;
      columns(reader, q.signature);
      q.why = fmt::format("finding {} is quarantined: {}", id,
                          ledger.note.empty() ? ledger.link : ledger.note);
    }
    return out;
  });
}

Result<std::vector<LedgerEntry>> Store::entries(std::int64_t finding) {
  return database_->read([&] {
    require_row(*database_, "findings", "finding", finding);
    return read_entries(database_->sql(), finding);
  });
}

Result<void> Store::sighted(std::int64_t finding, std::int64_t plans) {
  return database_->write(Durability::lazy, [&] {
    count_occurrences(database_->sql(), finding, campaign_, plans, utc_now());
  });
}

Result<void> Store::add_trial(std::int64_t finding, std::string_view purpose, const Plan& plan,
                              const TrialSpec& spec, const Observation& observation,
                              const Verdict& verdict) {
  return database_->write(Durability::lazy, [&] {
    require_row(*database_, "findings", "finding", finding);
    insert_trial(database_->sql(), finding,
                 {0, std::string(purpose), utc_now(), plan, spec, observation, verdict});
    prune_trials(database_->sql(), finding, kTrialsPerFinding);
  });
}

Result<void> Store::add_artifact(std::int64_t finding, std::string_view kind, std::string_view name,
                                 std::string_view bytes) {
  return database_->write(Durability::lazy, [&] {
    require_row(*database_, "findings", "finding", finding);
    put_artifact(database_->sql(), finding, kind, name, bytes);
  });
}

Result<void> Store::add_probe(const ProbeKey& key, const Plan& plan, const ProbeRecord& runs) {
  return database_->write(Durability::lazy, [&] {
    require_row(*database_, "findings", "finding", key.finding);
    add_probe_runs(database_->sql(), key, plan, runs);
  });
}

Result<std::vector<ProbeRecord>> Store::probes(const ProbeKey& key) {
  return database_->read([&] { return read_probes(database_->sql(), key); });
}

Result<std::vector<Finding>> Store::findings() {
  return database_->read([&] { return all_findings(database_->sql()); });
}

Result<Finding> Store::finding(std::int64_t id) {
  return database_->read([&] { return load_finding(*database_, id); });
}

Result<std::optional<Finding>> Store::find(const Signature& signature) {
  return database_->read([&]() -> std::optional<Finding> {
    const std::int64_t id = finding_id(database_->sql(), signature);
    if (id == 0) return std::nullopt;
    return load_finding(*database_, id);
  });
}

Result<std::vector<TrialRecord>> Store::trials(std::int64_t finding) {
  return database_->read([&] {
    require_row(*database_, "findings", "finding", finding);
    return read_trials(database_->sql(), finding);
  });
}

Result<std::vector<Artifact>> Store::artifacts(std::int64_t finding) {
  return database_->read([&] {
    require_row(*database_, "findings", "finding", finding);
    return read_artifacts(database_->sql(), finding);
  });
}

}  // namespace redzone::store
