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

std::vector<CampaignRecord> read_campaigns(SQLite::Database& sql);     // by id
CampaignRecord read_campaign(SQLite::Database& sql, std::int64_t id);  // which must exist

// Parses a plan that the store printed; a harness failure if this build cannot read it.
Plan stored_plan(const std::string& text, const std::string& where);

// The id of the plan's row, which is inserted if absent.
std::int64_t plan_row(SQLite::Database& sql, const Plan& plan);

// Deletes the plans that no row references.
void drop_unused_plans(SQLite::Database& sql);

// `campaign`: uid of the campaign with the occurrence, "" for none.
std::int64_t insert_finding(SQLite::Database& sql, const Finding& finding,
                            const std::string& campaign);
// Updates everything except the signature and the columns of occurrences.
void update_finding(SQLite::Database& sql, const Finding& finding);
// The same; the previous plans may be unused afterwards.
void rewrite_finding(SQLite::Database& sql, const Finding& finding);
// Ignores a finding that does not exist.
void count_occurrences(SQLite::Database& sql, std::int64_t id, const std::string& campaign,
                       std::int64_t plans, const std::string& when);
void rename_finding(SQLite::Database& sql, std::int64_t id, const Signature& signature);
// Moves occurrences, evidence and ledger of `from` to `into`, and deletes `from`.
void merge_finding(SQLite::Database& sql, std::int64_t from, std::int64_t into);
// Deletes the finding with everything that belongs to it; its plans may be unused afterwards.
void remove_finding(SQLite::Database& sql, std::int64_t id);

bool has_row(SQLite::Database& sql, std::string_view table, std::int64_t id);

// 0 if there is none.
std::int64_t finding_id(SQLite::Database& sql, const Signature& signature);
std::vector<Finding> all_findings(SQLite::Database& sql);
// Loads the finding, which must exist.
Finding read_finding(SQLite::Database& sql, std::int64_t id);
// An unknown id is a usage error that lists the existing ids.
Finding load_finding(Database& database, std::int64_t id);
// The same error, without loading.
void require_row(Database& database, std::string_view table, std::string_view what,
                 std::int64_t id);

}  // namespace redzone::store
