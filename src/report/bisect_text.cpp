#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bisect/explain.h"
#include "report/bisect.h"
#include "report/bisect_table.h"
#include "report/format.h"

namespace redzone::report {
namespace {

using bisect::Answer;

std::string rate_text(const bisect::Counts& counts) {
  return fmt::format("{} of {} runs", counts.same, counts.judged());
}

std::string rows_text(const bisect::Bisection& b) {
  const NightTable rows = bisection_table(b);
  std::vector<Table::Column> columns;
  for (const auto& title : rows.columns) columns.push_back({title});
  Table table(columns);
  for (const auto& row : rows.rows) table.add(row);
  return table.text();
}

std::string change_text(std::string_view what, const std::optional<bisect::ChangeSet>& set) {
  if (!set) return "";
  return fmt::format("{:16}  {} ({} failed)\n", what,
                     printable(fmt::format("{}", fmt::join(set->settings, ", "))),
                     ratio(set->probe.counts));
}

std::string combinations_text(const bisect::Bisection& b) {
  if (b.combinations.empty()) return "";
  std::size_t failed = 0;
  for (const auto& set : b.combinations) failed += set.probe.answer == Answer::fails ? 1 : 0;
  return fmt::format(
      "together          {} of {} combinations of settings that do not matter alone also fail\n",
      failed, b.combinations.size());
}

std::string effort_text(const bisect::Bisection& b) {
  return fmt::format("runs              {} made now{}\n",
                     grouped(static_cast<std::uint64_t>(b.runs)),
                     b.complete ? "" : "; not complete: repeat the command to continue");
}

std::string finding_title(const Finding& f) {
  return fmt::format("finding {}: {}\n", f.id, printable(f.signature.text()));
}

}  // namespace

std::string ratio(const bisect::Counts& counts) {
  return fmt::format("{}/{}", counts.same, counts.judged());
}

std::string bisection_text(const Finding& finding, const bisect::Bisection& b) {
  std::string out = finding_title(finding) + "\n" + printable(sentence(b)) + "\n\n";
  if (b.rows.empty()) return out + effort_text(b);
  return out + rows_text(b) + "\n" +
         fmt::format("fails             {}\n", rate_text(b.base.counts)) +
         change_text(b.go && b.go->probe.fails_otherwise() ? "fails otherwise" : "passes with",
                     b.go) +
         change_text("fails again with", b.come) + combinations_text(b) + effort_text(b);
}

std::string explanation_text(const Finding& finding, const bisect::Bisection& b) {
  std::string out = finding_title(finding);
  if (b.rows.empty()) return out + printable(sentence(b)) + "\n";
  out += fmt::format("  fails {}\n", rate_text(b.base.counts));
  for (const auto& s : explain(b)) {
    std::string runs;
    if (s.fails.judged() > 0) runs = fmt::format("{} failed", ratio(s.fails));
    if (s.passes.judged() > 0)
      runs += fmt::format("{}{} where it {}", runs.empty() ? "" : ", ", ratio(s.passes),
                          b.background.empty() ? "passes" : "fails otherwise");
    out += fmt::format("  {}{}\n", printable(s.text), runs.empty() ? "" : " [" + runs + "]");
  }
  if (!b.background.empty())
    out += "  " + printable(bisect::background_text(b.background)).substr(2) + "\n";
  return out + (b.complete ? "" : "  not complete: repeat the command to continue\n");
}

}  // namespace redzone::report
