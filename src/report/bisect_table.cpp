#include "report/bisect_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bisect/explain.h"
#include "report/bisect.h"

namespace redzone::report {
namespace {

using bisect::Answer;

// How a failing value fails, if its failure differs from the recorded one.
std::string shown_as(const bisect::Tried& t) {
  const std::string how = t.probe.counts.shown_as();
  return t.probe.answer == Answer::fails && !how.empty() ? fmt::format(" ({})", how) : "";
}

// Lists the conditions under which a passing value fails.
std::string fails_after_all(const bisect::Tried& t) {
  std::string out;
  if (t.other_data) out += fmt::format(" (other data: {})", ratio(t.other_data->probe.counts));
  if (t.other_launch)
    out += fmt::format(" (launch {}: {})", t.other_launch->launch,
                       ratio(t.other_launch->probe.counts));
  if (t.other_schedule)
    out += fmt::format(" (schedule {}: {})", t.other_schedule->seed,
                       ratio(t.other_schedule->probe.counts));
  return out;
}

// "128 1/1, 256 2/2": the values with one of these answers.
std::string values(const bisect::Row& row, std::initializer_list<Answer> answers) {
  std::string out;
  for (const auto& t : row.tried)
    for (const auto answer : answers)
      if (t.probe.answer == answer)
        out += fmt::format("{}{} {}{}{}", out.empty() ? "" : ", ", t.value, ratio(t.probe.counts),
                           shown_as(t), fails_after_all(t));
  return out.empty() ? "-" : out;
}

std::string verdict_cell(const bisect::Row& row) {
  std::string out(name_of(row.relevance()));
  if (!row.or_else.empty()) out += fmt::format(" (or {})", fmt::join(row.or_else, ", "));
  if (row.relevance() == bisect::Relevance::conditional)
    out += fmt::format(" (with another {})", fmt::join(row.decides_with, ", "));
  return row.by_oracle ? out + " (compared by the oracle)" : out;
}

}  // namespace

NightTable bisection_table(const bisect::Bisection& b) {
  bool other = false;
  for (const auto& row : b.rows)
    for (const auto& t : row.tried)
      other = other || (t.probe.answer != Answer::fails && t.probe.answer != Answer::passes);
  NightTable table{sentence(b),
                   {"setting", "is", "verdict", "fails with",
                    std::string(bisect::ends_with(!b.background.empty()))},
                   {}};
  if (other) table.columns.push_back("other result");
  for (const auto& row : b.rows) {
    std::vector<std::string> cells{row.axis, row.value, verdict_cell(row),
                                   values(row, {Answer::fails}), values(row, {Answer::passes})};
    if (other) cells.push_back(values(row, {Answer::differs, Answer::undecided, Answer::unjudged}));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace redzone::report
