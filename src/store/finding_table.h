// Findings, and the plans and environments that they point to, as rows. Internal to the store; all
// of it throws (see Database::read and Database::write) and runs inside the caller's transaction.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/campaign_record.h"
#include "core/finding.h"
#include "store/database.h"

namespace redzone::store {

std::vector<CampaignRecord> read_campaigns(SQLite::Database& sql);     // by id
CampaignRecord read_campaign(SQLite::Database& sql, std::int64_t id);  // which is there

// The plan that the store printed itself; a harness failure when this build cannot read it.
Plan stored_plan(const std::string& text, const std::string& where);

// The id of the plan's row, which is made when there is none.
std::int64_t plan_row(SQLite::Database& sql, const Plan& plan);

// Removes the plans that nothing points to any more.
void drop_unused_plans(SQLite::Database& sql);

// `campaign`: the uid of the one that saw it, "" for none.
std::int64_t insert_finding(SQLite::Database& sql, const Finding& finding,
                            const std::string& campaign);
// Everything but the signature and where and how often it was seen.
void update_finding(SQLite::Database& sql, const Finding& finding);
// The same; the plans of before may be unused then.
void rewrite_finding(SQLite::Database& sql, const Finding& finding);
// A finding that is not there is passed over.
void count_occurrences(SQLite::Database& sql, std::int64_t id, const std::string& campaign,
                       std::int64_t plans, const std::string& when);
void rename_finding(SQLite::Database& sql, std::int64_t id, const Signature& signature);
// Gives occurrences, evidence and ledger of `from` to `into`, and removes `from`.
void merge_finding(SQLite::Database& sql, std::int64_t from, std::int64_t into);
// With all that belongs to it; its plans may be unused then.
void remove_finding(SQLite::Database& sql, std::int64_t id);

bool has_row(SQLite::Database& sql, std::string_view table, std::int64_t id);

// 0 when there is none.
std::int64_t finding_id(SQLite::Database& sql, const Signature& signature);
std::vector<Finding> all_findings(SQLite::Database& sql);
// A usage error for an unknown id, which names those that exist.
Finding load_finding(Database& database, std::int64_t id);
// The same error, without loading.
void require_row(Database& database, std::string_view table, std::string_view what,
                 std::int64_t id);

}  // namespace redzone::store
