#include "report/guard_stored.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/terminal.h"
#include "report/format.h"

namespace redzone::report {
namespace {

std::string mark_text(const Ledger& ledger) {
  std::string out(name_of(ledger.standing));
  if (!ledger.link.empty()) out += ", " + ledger.link;
  if (!ledger.note.empty()) out += fmt::format(" ({})", ledger.note);
  return out;
}

std::string stored_line(std::size_t number, const guard::KnownFinding& known, std::string_view db) {
  if (!known.problem.empty())
    return fmt::format("finding {} is not stored: {}\n", number, printable(known.problem));
  if (known.id == 0) return "";
  std::string out =
      fmt::format("finding {} is stored as {}{}", number, known.id, known.is_new ? ", new" : "");
  if (known.is_suppressed())
    return out + fmt::format(", suppressed: {}\n", printable(mark_text(known.ledger)));
  if (known.ledger.standing != Standing::fresh) out += ", " + printable(mark_text(known.ledger));
  return out + fmt::format(": redzone replay {}{}\n", known.id,
                           db.empty() ? "" : " --db " + shell_quoted(db));
}

std::string runs_text(std::span<const guard::ProgramRun> runs) {
  if (runs.size() < 2) return "";
  Table table({{"run", Table::Align::right},
               {"settings"},
               {"exit code", Table::Align::right},
               {"findings", Table::Align::right},
               {"judged"}});
  for (std::size_t i = 0; i < runs.size(); ++i)
    table.add({std::to_string(i + 1), guard::varied_text(runs[i].settings),
               std::to_string(runs[i].ended.exit_code), grouped(runs[i].findings().size()),
               runs[i].is_judged() ? "yes" : "no"});
  std::string out = table.text();
  const auto joined = guard::joined_findings(runs);
  for (std::size_t i = 0; i < joined.size(); ++i)
    out += fmt::format("finding {} was seen in {} of {} runs\n", i + 1, joined[i].seen_in,
                       runs.size());
  return out;
}

}  // namespace

std::string guard_stored_text(const GuardStored& stored) {
  std::string out;
  for (std::size_t i = 0; i < stored.known.size(); ++i)
    out += stored_line(i + 1, stored.known[i], stored.db);
  if (!stored.problem.empty())
    out += fmt::format("note: the findings are not stored: {}\n", printable(stored.problem));
  return out + runs_text(stored.runs);
}

std::string suppressed_text(const GuardStored& stored) {
  const auto n = std::count_if(stored.known.begin(), stored.known.end(),
                               [](const auto& each) { return each.is_suppressed(); });
  return n == 0 ? ""
                : fmt::format(", {} suppressed by marks", grouped(static_cast<std::uint64_t>(n)));
}

Json guard_stored_json(const GuardStored& stored) {
  return list(stored.known, [](const guard::KnownFinding& known) -> Json {
    return {{"signature", printable(known.signature)},
            {"id", known.id == 0 ? Json() : Json(known.id)},
            {"new", known.is_new},
            {"standing", name_of(known.ledger.standing)},
            {"link", known.ledger.link},
            {"note", known.ledger.note},
            {"suppressed", known.is_suppressed()},
            {"problem", known.problem}};
  });
}

Json guard_runs_json(const GuardStored& stored) {
  return list(stored.runs, [](const guard::ProgramRun& run) -> Json {
    return {{"settings", guard::varied_text(run.settings)},
            {"exit_code", run.ended.exit_code},
            {"judged", run.is_judged()},
            {"findings", list(run.findings(), [](const guard::DistinctFinding& each) -> Json {
               return printable(guard::signature(each.first));
             })}};
  });
}

}  // namespace redzone::report
