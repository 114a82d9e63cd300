#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/bisect.h"
#include "report/bisect_runs.h"
#include "report/format.h"
#include "report/json_parts.h"

namespace redzone::report {
namespace {

using Builds = std::vector<std::string>;

std::string percent(double chance) {
  return fmt::format("{:.1f}%", 100 * chance);
}

std::string said(const Builds& builds, const bisect::FirstBad& r) {
  if (!r.first_bad) {
    if (const auto* step = r.differing())
      return fmt::format(
          "No build that was tried fails as recorded, so there is no first bad one. {}: {}.",
          builds[step->build], why_it_cannot_be_bisected(step->answer.probe));
    for (const auto& step : r.path)
      if (step.answer.skipped.empty())
        return "The last build does not fail, so there is no first bad one.";
    return "No build could be tried.";
  }
  const auto& bad = builds[*r.first_bad];
  if (!r.last_good) return fmt::format("{} fails, and none before it passes.", bad);
  const auto& good = builds[*r.last_good];
  if (r.between.empty())
    return fmt::format("{} is the first bad build ({} sure); {} passes.", bad,
                       percent(r.confidence), good);
  return fmt::format(
      "The first bad build is {}, or one of {} before it that could not be tried or fails in "
      "another way ({} sure); {} passes.",
      bad, r.between.size(), percent(r.confidence), good);
}

std::string answer_text(const bisect::BuildProbe& p) {
  return p.skipped.empty() ? std::string(name_of(p.probe.answer)) : "skipped";
}

// The build that is most likely the first bad one; "" if more likely none is bad.
std::string likely(const Builds& builds, const bisect::BuildStep& step) {
  return step.likely < builds.size() ? builds[step.likely] : "";
}

}  // namespace

std::string builds_text(const Finding& f, const Builds& builds, const bisect::FirstBad& r) {
  std::string out = fmt::format("finding {}: {}\n\n{}\n\n", f.id, printable(f.signature.text()),
                                printable(said(builds, r)));
  Table table({{"tried"},
               {"answer"},
               {"failed", Table::Align::right},
               {"likely first bad"},
               {"sure", Table::Align::right}});
  for (const auto& step : r.path)
    table.add({builds[step.build], answer_text(step.answer), ratio(step.answer.probe.counts),
               likely(builds, step), percent(step.confidence)});
  out += table.text();
  for (const auto& step : r.path)
    if (!step.answer.skipped.empty())
      out += fmt::format("skipped {}\n", printable(step.answer.skipped));
  return out;
}

std::string builds_json(const Finding& f, const Builds& builds, const bisect::FirstBad& r) {
  const auto named = [&](const std::optional<std::size_t>& build) {
    return build ? Json(builds[*build]) : Json();
  };
  Json path = Json::array(), between = Json::array();
  for (const auto i : r.between) between.push_back(builds[i]);
  for (const auto& step : r.path)
    path.push_back({{"build", builds[step.build]},
                    {"answer", answer_text(step.answer)},
                    {"skipped", step.answer.skipped},
                    {"runs", runs_json(step.answer.probe.counts)},
                    {"likely", step.likely < builds.size() ? Json(builds[step.likely]) : Json()},
                    {"confidence", step.confidence}});
  return print({{"finding", f.id},
                {"signature", f.signature.text()},
                {"sentence", said(builds, r)},
                {"first_bad", named(r.first_bad)},
                {"last_good", named(r.last_good)},
                {"between", between},
                {"confidence", r.confidence},
                {"path", path}});
}

}  // namespace redzone::report
