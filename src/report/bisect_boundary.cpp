#include <fmt/format.h>

#include "report/bisect.h"
#include "report/bisect_runs.h"
#include "report/format.h"
#include "report/json_parts.h"

namespace redzone::report {

std::string boundary_text(const Finding& f, const bisect::Boundary& b) {
  std::string out = fmt::format("finding {}: {}\n\n{}\n", f.id, printable(f.signature.text()),
                                printable(sentence(b)));
  Table table({{b.dim, Table::Align::right}, {"answer"}, {"failed", Table::Align::right}});
  for (const auto& s : b.samples)
    table.add({std::to_string(s.value), std::string(s.probe.answer_text()), ratio(s.probe.counts)});
  if (!table.empty()) out += "\n" + table.text();
  return out + fmt::format("\nruns  {} made now{}\n", grouped(static_cast<std::uint64_t>(b.runs)),
                           b.complete ? "" : "; not complete: repeat the command to continue");
}

std::string boundary_json(const Finding& f, const bisect::Boundary& b) {
  Json samples = Json::array();
  for (const auto& s : b.samples)
    samples.push_back({{"value", s.value},
                       {"answer", s.probe.answer_text()},
                       {"runs", runs_json(s.probe.counts)}});
  return print({{"finding", f.id},
                {"signature", f.signature.text()},
                {"dim", b.dim},
                {"calls", b.calls},
                {"base", runs_json(b.base.counts)},
                {"sentence", sentence(b)},
                {"rule", b.rule ? Json(b.rule->text(b.dim)) : Json()},
                {"samples", samples},
                {"only_this_data", b.only_this_data},
                {"only_this_schedule", b.only_this_schedule},
                {"foretold", b.predicted},
                {"complete", b.complete},
                {"runs_made", b.runs}});
}

}  // namespace redzone::report
