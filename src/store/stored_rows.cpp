#include "store/stored_rows.h"

#include <fmt/ranges.h>

#include <array>
#include <functional>
#include <string_view>

#include "store/schema_columns.h"

namespace redzone::store {
namespace {

// The SQL expression for the content of a column of the table alias `t`.
std::string content_of(const std::string& column) {
  const auto looked_up = [&](std::string_view what, std::string_view table) {
    return fmt::format("(SELECT {} FROM {} WHERE id = t.{})", what, table, column);
  };
  if (column == "finding_id") return looked_up("signature_hash", "findings");
  if (column == "campaign_id") return looked_up("uid", "campaigns");
  if (column == "plan_id" || column == "original_id") return looked_up("hash", "plans");
  if (column == "environment_id") {
    std::string all;
    const Columns& known = known_columns();
    for (const auto& name : known.at("environments"))
      if (name != "id") all += fmt::format("{}quote({})", all.empty() ? "" : " || ' ' || ", name);
    return looked_up(all, "environments");
  }
  return "t." + column;
}

// Appends the value with its length as a prefix, so that different rows have different contents.
void append(std::string& content, const SQLite::Column& cell) {
  const std::string text = cell.getString();
  content += fmt::format("{} {} ", cell.getType(), text.size());
  content += text;
}

}  // namespace

std::span<const KeptTable> kept_tables() {
  static constexpr std::array kTables{
      KeptTable{"campaigns", "campaigns", "campaigns"},
      KeptTable{"nights", "nights", "campaigns"},
      KeptTable{"night_targets", "targets of nights", "campaigns"},
      KeptTable{"night_replays", "replays of nights", "campaigns"},
      KeptTable{"findings", "findings", "findings"},
      KeptTable{"ledger", "entries of the ledgers of findings", "findings"},
      KeptTable{"occurrences", "occurrences of findings", "findings"},
      KeptTable{"former_names", "former names of findings", "findings"},
      KeptTable{"attributions", "attributions of findings", "findings"},
      KeptTable{"culprits", "culprits of findings", "findings"},
      KeptTable{"trials", "trials of findings", "findings"},
      KeptTable{"artifacts", "artifacts of findings", "findings"},
      KeptTable{"probes", "probes of findings", "findings"},
  };
  return kTables;
}

std::vector<StoredRow> stored_rows(SQLite::Database& sql, const KeptTable& table,
                                   const std::vector<std::string>& columns) {
  const std::string_view owner = table.owner;
  const char* number = owner == table.name    ? "id"
                       : owner == "campaigns" ? "campaign_id"
                                              : "finding_id";
  std::vector<std::string> contents;
  for (const auto& column : columns)
    if (column != "id") contents.push_back(content_of(column));
  SQLite::Statement query(
      sql, fmt::format("SELECT t.{}, {} FROM {} t", number, fmt::join(contents, ", "), table.name));
  std::vector<StoredRow> rows;
  std::string content;
  while (query.executeStep()) {
    content.clear();
    for (int i = 1; i < query.getColumnCount(); ++i) append(content, query.getColumn(i));
    rows.push_back({query.getColumn(0).getInt64(), std::hash<std::string>{}(content)});
  }
  return rows;
}

}  // namespace redzone::store
