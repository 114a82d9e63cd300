#include "report/bisect_between.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/plan_text.h"
#include "report/bisect.h"
#include "report/bisect_runs.h"
#include "report/format.h"
#include "report/json_parts.h"

namespace redzone::report {
namespace {

Json set_json(const std::optional<bisect::ChangeSet>& set) {
  if (!set) return {};
  return {{"settings", set->settings},
          {"answer", name_of(set->probe.answer)},
          {"plan", print_plan(set->plan)},
          {"plan_hash", plan_hash(set->plan)},
          {"runs", runs_json(set->probe.counts)}};
}

std::string set_line(std::string_view what, const std::optional<bisect::ChangeSet>& set) {
  if (!set) return "";
  return fmt::format("{}  {} ({} failed)\n", what,
                     printable(fmt::format("{}", fmt::join(set->settings, ", "))),
                     ratio(set->probe.counts));
}

}  // namespace

std::string between_text(const Finding& f, const bisect::Between& b) {
  return fmt::format("finding {}: {}\n\n{}\n\ndifferences       {}\n", f.id,
                     printable(f.signature.text()), printable(sentence(b)),
                     printable(fmt::format("{}", fmt::join(b.differences, ", ")))) +
         set_line("passes with     ", b.go) + set_line("fails again with", b.come) +
         fmt::format("runs              {} made now{}\n",
                     grouped(static_cast<std::uint64_t>(b.runs)),
                     b.complete ? "" : "; not complete: repeat the command to continue");
}

std::string between_json(const Finding& f, const bisect::Between& b) {
  return print({{"finding", f.id},
                {"signature", f.signature.text()},
                {"sentence", sentence(b)},
                {"failing", runs_json(b.failing.counts)},
                {"passing", runs_json(b.passing.counts)},
                {"differences", b.differences},
                {"go", set_json(b.go)},
                {"come", set_json(b.come)},
                {"complete", b.complete},
                {"runs_made", b.runs}});
}

}  // namespace redzone::report
