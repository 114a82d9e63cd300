// The output of `redzone db`: text, or with --json one document.
//
//   prune  {"findings", "campaigns", "ledger_entries", "bytes_before", "bytes_after"}
//   check  {"sound": bool, "wrong": [line]}
//   copy   {"copied": file or null, "wrong": [line]}
//   stats  {"schema_version", "bytes", "free_bytes", "rows": {table: n}, "findings": {"by_state",
//          "by_standing", "by_target", "first_seen", "last_seen"}}
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/store_facts.h"

namespace redzone::report {

std::string pruned_text(const PruneResult& pruned);
std::string pruned_json(const PruneResult& pruned);
std::string check_text(std::span<const std::string> wrong);
std::string check_json(std::span<const std::string> wrong);
// `wrong`: why no copy was made.
std::string copied_text(std::string_view to, std::span<const std::string> wrong);
std::string copied_json(std::string_view to, std::span<const std::string> wrong);
std::string contents_text(const StoreContents& contents);
std::string contents_json(const StoreContents& contents);

}  // namespace redzone::report
