#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bisect/explain.h"
#include "report/bisect.h"
#include "report/format.h"
#include "report/statistics.h"

namespace redzone::report {
namespace {

using bisect::Answer;

std::string rate_text(const bisect::Counts& counts) {
  const Interval i = wilson_interval({counts.same, counts.judged()});
  return fmt::format("{} of {} runs (95% interval {:.0f}% to {:.0f}%)", counts.same,
                     counts.judged(), 100 * i.low, 100 * i.high);
}

// "128 1/1, 256 2/2" of the values with one of these answers.
std::string values(const bisect::Row& row, std::initializer_list<Answer> answers) {
  std::string out;
  for (const auto& t : row.tried)
    for (const auto answer : answers)
      if (t.probe.answer == answer)
        out += fmt::format("{}{} {}", out.empty() ? "" : ", ", t.value, ratio(t.probe.counts));
  return out.empty() ? "-" : out;
}

std::string verdict(const bisect::Row& row) {
  std::string out(name_of(row.relevance()));
  if (!row.or_else.empty()) out += fmt::format(" (or {})", fmt::join(row.or_else, ", "));
  return row.by_oracle ? out + " (compared by the oracle)" : out;
}

std::string rows_text(const bisect::Bisection& b) {
  bool other = false;
  for (const auto& row : b.rows)
    for (const auto& t : row.tried)
      other = other || (t.probe.answer != Answer::fails && t.probe.answer != Answer::passes);
  std::vector<Table::Column> columns{
      {"setting"}, {"is"}, {"verdict"}, {"fails with"}, {"passes with"}};
  if (other) columns.push_back({"otherwise, or unknown"});
  Table table(columns);
  for (const auto& row : b.rows) {
    std::vector<std::string> cells{row.axis, row.value, verdict(row), values(row, {Answer::fails}),
                                   values(row, {Answer::passes})};
    if (other) cells.push_back(values(row, {Answer::differs, Answer::undecided, Answer::unjudged}));
    table.add(cells);
  }
  return table.text();
}

std::string change_text(std::string_view what, const std::optional<bisect::ChangeSet>& set) {
  if (!set) return "";
  return fmt::format("{}  {} ({} failed)\n", what,
                     printable(fmt::format("{}", fmt::join(set->settings, ", "))),
                     ratio(set->probe.counts));
}

std::string combinations_text(const bisect::Bisection& b) {
  if (b.combinations.empty()) return "";
  std::size_t failed = 0;
  for (const auto& set : b.combinations) failed += set.probe.answer == Answer::fails ? 1 : 0;
  return fmt::format("together     {} of {} combinations of what does not matter alone fail, too\n",
                     failed, b.combinations.size());
}

std::string effort_text(const bisect::Bisection& b) {
  return fmt::format("runs         {} made now{}\n", grouped(static_cast<std::uint64_t>(b.runs)),
                     b.complete ? "" : "; the budget ended: bisect again to go on");
}

std::string title(const store::Finding& f) {
  return fmt::format("finding {}: {}\n", f.id, printable(f.signature.text()));
}

}  // namespace

std::string ratio(const bisect::Counts& counts) {
  return fmt::format("{}/{}", counts.same, counts.judged());
}

std::string bisection_text(const store::Finding& finding, const bisect::Bisection& b) {
  std::string out = title(finding) + "\n" + printable(sentence(b)) + "\n\n";
  if (b.rows.empty()) return out + effort_text(b);
  return out + rows_text(b) + "\n" + fmt::format("fails        {}\n", rate_text(b.base.counts)) +
         change_text("makes it go", b.go) + change_text("brings it back", b.come) +
         combinations_text(b) + effort_text(b);
}

std::string explanation_text(const store::Finding& finding, const bisect::Bisection& b) {
  std::string out = title(finding);
  if (b.rows.empty()) return out + printable(sentence(b)) + "\n";
  out += fmt::format("  fails {}\n", rate_text(b.base.counts));
  for (const auto& s : explain(b)) {
    std::string runs;
    if (s.fails.judged() > 0) runs = fmt::format("{} failed", ratio(s.fails));
    if (s.passes.judged() > 0)
      runs += fmt::format("{}{} where it passes", runs.empty() ? "" : ", ", ratio(s.passes));
    out += fmt::format("  {}{}\n", printable(s.text), runs.empty() ? "" : " [" + runs + "]");
  }
  return out + (b.complete ? "" : "  the budget ended: explain again to go on\n");
}

}  // namespace redzone::report
