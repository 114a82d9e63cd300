#include "report/program_bisect.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/terminal.h"
#include "report/format.h"
#include "report/json_parts.h"

namespace redzone::report {
namespace {

using bisect::Probe;
using bisect::Relevance;

std::string probe_text(const Probe& probe) {
  const auto& c = probe.counts;
  std::string out = fmt::format("{} {}/{}", name_of(probe.answer), c.same, c.judged());
  if (probe.answer == bisect::Answer::unjudged && !c.said.empty()) out += " (" + c.said + ")";
  return out;
}

Json answer_json(const Probe& probe) {
  const auto& c = probe.counts;
  return {{"answer", name_of(probe.answer)},
          {"failed", c.same},
          {"otherwise", c.other},
          {"passed", c.passed},
          {"unjudged", c.unjudged},
          {"said", printable(c.said)}};
}

// "it needs placement = guard_after", or a sentence about why no setting is needed.
std::string needs_text(const bisect::ChoiceBisection& result) {
  std::string out;
  for (const auto& row : result.rows)
    if (row.relevance() == Relevance::necessary)
      out += fmt::format("{}{} = {}", out.empty() ? "it needs " : ", ", row.name, row.value);
  if (!out.empty()) return out + "\n";
  const bool decided = std::none_of(result.rows.begin(), result.rows.end(), [](const auto& row) {
    return row.relevance() == Relevance::unknown;
  });
  if (!result.complete || !decided) return "not decided: a setting could not be judged\n";
  return result.together && result.together->answer != bisect::Answer::fails
             ? "no setting matters alone, but it needs one of them\n"
             : "it needs none of these settings\n";
}

std::string blocks_text(const ProgramBisection& result) {
  if (!result.blocks) return "";
  const auto& [first, last, decided] = *result.blocks;
  if (!decided)
    return fmt::format("guarding blocks {} to {} is enough for it; which of them is not decided\n",
                       first, last);
  if (first == last) return fmt::format("guarding block {} alone is enough for it\n", first);
  return fmt::format("guarding blocks {} to {} is enough for it, but not one half of them\n", first,
                     last);
}

}  // namespace

std::string program_bisection_text(const Finding& finding, const ProgramBisection& result) {
  const auto& settings = result.settings;
  std::string out =
      fmt::format("finding {}: {}\nas it was run: {}\n", finding.id,
                  printable(finding.signature.text()), printable(probe_text(settings.base)));
  if (settings.base.answer != bisect::Answer::fails)
    return out + (settings.complete ? "nothing to bisect: it does not fail as recorded\n"
                                    : "not decided: ended by the time limit\n");
  Table table({{"setting"}, {"value"}, {"relevance"}, {"tried"}});
  for (const auto& row : settings.rows) {
    std::string tried;
    for (const auto& each : row.tried)
      tried +=
          fmt::format("{}{}: {}", tried.empty() ? "" : ", ", each.value, probe_text(each.probe));
    table.add({row.name, row.value, std::string(name_of(row.relevance())), printable(tried)});
  }
  out += table.text();
  if (settings.together)
    out += fmt::format("all that do not matter, changed at once: {}\n",
                       printable(probe_text(*settings.together)));
  out += needs_text(settings) + blocks_text(result);
  return out + fmt::format("{}{}\n", counted(static_cast<std::uint64_t>(settings.runs), "run"),
                           settings.complete ? "" : "; ended by the time limit");
}

std::string program_bisection_json(const Finding& finding, const ProgramBisection& result) {
  const auto& settings = result.settings;
  return print(
      {{"finding", finding.id},
       {"signature", finding.signature.text()},
       {"base", answer_json(settings.base)},
       {"settings", list(settings.rows,
                         [](const bisect::ChoiceRow& row) -> Json {
                           return {{"name", row.name},
                                   {"value", row.value},
                                   {"relevance", name_of(row.relevance())},
                                   {"tried", list(row.tried, [](const bisect::TriedChoice& each) {
                                      Json out = {{"value", each.value}};
                                      out.update(answer_json(each.probe));
                                      return out;
                                    })}};
                         })},
       {"together", settings.together ? answer_json(*settings.together) : Json()},
       {"blocks", result.blocks ? Json({result.blocks->first, result.blocks->last}) : Json()},
       {"blocks_decided", result.blocks && result.blocks->decided},
       {"runs", settings.runs},
       {"complete", settings.complete}});
}

}  // namespace redzone::report
