#include "report/upkeep.h"

#include <fmt/format.h>

#include "report/format.h"
#include "report/json_parts.h"

namespace redzone::report {
namespace {

using Counts = std::vector<std::pair<std::string, std::int64_t>>;

std::string bytes(std::int64_t n) {
  return grouped(static_cast<std::uint64_t>(n)) + " bytes";
}

Json object(const Counts& counts) {
  Json json = Json::object();
  for (const auto& [name, n] : counts) json[name] = n;
  return json;
}

std::string counts_table(std::string_view title, const Counts& counts) {
  if (counts.empty()) return "";
  Table table({{std::string(title)}, {"", Table::Align::right}});
  for (const auto& [name, n] : counts) table.add({name, grouped(static_cast<std::uint64_t>(n))});
  return "\n" + table.text();
}

}  // namespace

std::string pruned_text(const PruneResult& p) {
  return fmt::format("removed {} that never recurred, {}, {}; {} are {} now\n",
                     counted(static_cast<std::uint64_t>(p.findings), "suspect"),
                     counted(static_cast<std::uint64_t>(p.campaigns), "campaign"),
                     counted(static_cast<std::uint64_t>(p.entries), "repeated ledger line"),
                     bytes(p.bytes_before), bytes(p.bytes_after));
}

std::string pruned_json(const PruneResult& p) {
  return print({{"findings", p.findings},
                {"campaigns", p.campaigns},
                {"ledger_entries", p.entries},
                {"bytes_before", p.bytes_before},
                {"bytes_after", p.bytes_after}});
}

std::string check_text(std::span<const std::string> wrong) {
  if (wrong.empty()) return "sound\n";
  std::string out;
  for (const auto& line : wrong) out += "wrong: " + printable(line) + "\n";
  return out;
}

std::string check_json(std::span<const std::string> wrong) {
  return print({{"sound", wrong.empty()}, {"wrong", wrong}});
}

std::string copied_text(std::string_view to, std::span<const std::string> wrong) {
  return wrong.empty() ? fmt::format("copied to {}\n", printable(to)) : check_text(wrong);
}

std::string copied_json(std::string_view to, std::span<const std::string> wrong) {
  return print({{"copied", wrong.empty() ? Json(to) : Json()}, {"wrong", wrong}});
}

std::string contents_text(const StoreContents& c) {
  std::string out = fmt::format("schema {}, {} used, {} free\n", c.schema_version, bytes(c.bytes),
                                bytes(c.free_bytes));
  if (!c.first_seen.empty())
    out += fmt::format("findings seen from {} to {}\n", c.first_seen, c.last_seen);
  return out + counts_table("findings by state", c.findings_by_state) +
         counts_table("by standing", c.findings_by_standing) +
         counts_table("by target", c.findings_by_target) + counts_table("rows", c.rows);
}

std::string contents_json(const StoreContents& c) {
  return print({{"schema_version", c.schema_version},
                {"bytes", c.bytes},
                {"free_bytes", c.free_bytes},
                {"rows", object(c.rows)},
                {"findings",
                 {{"by_state", object(c.findings_by_state)},
                  {"by_standing", object(c.findings_by_standing)},
                  {"by_target", object(c.findings_by_target)},
                  {"first_seen", c.first_seen},
                  {"last_seen", c.last_seen}}}});
}

}  // namespace redzone::report
