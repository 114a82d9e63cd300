// Findings, with the plans and environments that they reference, as rows. Internal to the store;
// all functions throw (see Database::read and Database::write) and run inside the caller's
// transaction.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/campaign_record.h"
#include "core/finding.h"
#include "store/database.h"

namespace redzone::store {

std::vector<CampaignRecord> read_campaigns(SQLite::Database& sql);     // ordered by id
CampaignRecord read_campaign(SQLite::Database& sql, std::int64_t id);  // the campaign must exist

// Parses a plan that the store printed; an unsound Failure if this build cannot read it.
Plan stored_plan(const std::string& text, const std::string& where);

// Returns the id of the plan's row, and inserts the row if it is absent.
std::int64_t plan_row(SQLite::Database& sql, const Plan& plan);

// Deletes the plans that no row references.
void drop_unused_plans(SQLite::Database& sql);

// `campaign`: uid of the campaign in which the finding occurred, "" for none.
std::int64_t insert_finding(SQLite::Database& sql, const Finding& finding,
                            const std::string& campaign);
// Updates everything except the signature and the columns of occurrences.
void update_finding(SQLite::Database& sql, const Finding& finding);
// Like update_finding(), but leaves previous plans in the store even if no row references them.
void rewrite_finding(SQLite::Database& sql, const Finding& finding);
// Does nothing if the finding does not exist.
void count_occurrences(SQLite::Database& sql, std::int64_t id, const std::string& campaign,
                       std::int64_t plans, const std::string& when);
void rename_finding(SQLite::Database& sql, std::int64_t id, const Signature& signature);
// Moves occurrences, evidence and ledger of `from` to `into`, and deletes `from`.
void merge_finding(SQLite::Database& sql, std::int64_t from, std::int64_t into);
// Deletes the finding with everything that belongs to it; afterwards no row may reference its
// plans.
void remove_finding(SQLite::Database& sql, std::int64_t id);

bool has_row(SQLite::Database& sql, std::string_view table, std::int64_t id);

// 0 if no finding has the signature.
std::int64_t finding_id(SQLite::Database& sql, const Signature& signature);
std::vector<Finding> all_findings(SQLite::Database& sql);
// Loads the finding, which must exist.
Finding read_finding(SQLite::Database& sql, std::int64_t id);
// An unknown id is a usage error that lists the existing ids.
Finding load_finding(Database& database, std::int64_t id);
// Fails with the same usage error as load_finding(), without loading.
void require_row(Database& database, std::string_view table, std::string_view what,
                 std::int64_t id);

}  // namespace redzone::store
