#include "report/fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "page_css.h"
#include "report/format.h"
#include "report/json_parts.h"
#include "report/safe_text.h"

namespace redzone::report {
namespace {

using Align = Table::Align;

// A table of the report, shown both in the text and on the page.
struct Grid {
  std::string title;
  std::vector<Table::Column> columns;
  std::vector<std::vector<std::string>> rows;
};

std::string number(std::int64_t n) {
  return grouped(static_cast<std::uint64_t>(n));
}

std::string dash(const std::string& text) {
  return text.empty() ? "-" : text;
}

Grid shards_grid(const Fleet& fleet) {
  Grid grid{.title = "Shards",
            .columns = {{"shard", Align::right},
                        {"state"},
                        {"node"},
                        {"device"},
                        {"attempts", Align::right},
                        {"plans", Align::right},
                        {"plans/s", Align::right},
                        {"findings", Align::right},
                        {"latest snapshot"},
                        {"problem"}},
            .rows = {}};
  for (const auto& s : fleet.shards)
    grid.rows.push_back({std::to_string(s.shard), s.state, dash(s.host), dash(s.device),
                         std::to_string(s.attempts), grouped(s.plans),
                         rate(per_second(s.plans, s.seconds)), number(s.findings),
                         dash(s.published), s.problem});
  return grid;
}

Grid losses_grid(const Fleet& fleet) {
  Grid grid{.title = "Lost",
            .columns = {{"job"},
                        {"attempt", Align::right},
                        {"node"},
                        {"what it did since"},
                        {"began again"},
                        {"why"}},
            .rows = {}};
  for (const auto& loss : fleet.losses)
    grid.rows.push_back({loss.job.kind == "hub"
                             ? loss.job.kind
                             : fmt::format("{} {}", loss.job.kind, loss.job.number),
                         std::to_string(loss.attempt), dash(loss.host), dash(loss.since),
                         dash(loss.again_at), loss.why});
  return grid;
}

Grid findings_grid(const Fleet& fleet) {
  Grid grid{.title = "Findings by device",
            .columns = {{"device"}, {"state"}, {"findings", Align::right}},
            .rows = {}};
  for (const auto& [device, states] : fleet.findings)
    for (const auto& [state, n] : states) grid.rows.push_back({dash(device), state, number(n)});
  return grid;
}

Grid models_grid(const Fleet& fleet) {
  Grid grid{.title = "Examinations, by model",
            .columns = {{"model"},
                        {"shards", Align::right},
                        {"state"},
                        {"node"},
                        {"attempts", Align::right},
                        {"problem"}},
            .rows = {}};
  for (const auto& m : fleet.models)
    grid.rows.push_back({dash(m.name), std::to_string(m.shards), m.state, dash(m.host),
                         std::to_string(m.attempts), m.problem});
  return grid;
}

Grid comparisons_grid(const Fleet& fleet) {
  Grid grid{.title = "The same plan on each device",
            .columns = {{"finding", Align::right},
                        {"signature"},
                        {"found on"},
                        {"device"},
                        {"failed", Align::right},
                        {"says"},
                        {"differs"}},
            .rows = {}};
  for (const auto& c : fleet.comparisons)
    for (const auto& d : c.devices)
      grid.rows.push_back({std::to_string(c.finding), c.signature, dash(c.found_on), dash(d.device),
                           fmt::format("{}/{}", d.failed, d.runs), d.says,
                           c.differs ? "differs" : ""});
  return grid;
}

std::vector<Grid> grids_of(const Fleet& fleet) {
  return {shards_grid(fleet), losses_grid(fleet), findings_grid(fleet), comparisons_grid(fleet),
          models_grid(fleet)};
}

// The summary, one sentence per line.
std::vector<std::string> sentences_of(const Fleet& fleet) {
  std::uint64_t plans = 0;
  double speed = 0;
  for (const auto& s : fleet.shards) {
    plans += s.plans;
    speed += per_second(s.plans, s.seconds);
  }
  std::vector<std::string> lines{
      fmt::format("fleet in {}, submitted {}, Redzone {}, seed {}", fleet.folder, fleet.created,
                  fleet.version, fleet.seed),
      fmt::format("{}: {}, {} plans/s in all",
                  counted(static_cast<std::uint64_t>(fleet.shards.size()), "shard"),
                  counted(plans, "plan"), rate(speed)),
      fmt::format(
          "hub: {}{}{}, {}, {} snapshots merged in {:.1f} s; {} reductions granted, {} left "
          "to another shard, {} done before",
          fleet.hub_state, fleet.hub_host.empty() ? "" : " on " + fleet.hub_host,
          fleet.hub_updated.empty() ? "" : ", last heard " + fleet.hub_updated,
          counted(static_cast<std::uint64_t>(fleet.hub_attempts), "attempt"), number(fleet.merges),
          fleet.merge_seconds, number(fleet.granted), number(fleet.leased), number(fleet.reduced))};
  lines.push_back(fleet.seconds_to_first ? fmt::format("first finding {} after the submission",
                                                       clock_time(*fleet.seconds_to_first))
                                         : "no finding yet");
  if (const auto differ = std::count_if(fleet.comparisons.begin(), fleet.comparisons.end(),
                                        [](const FleetComparison& c) { return c.differs; });
      differ > 0)
    lines.push_back(fmt::format(
        "{} on one device and {} on another",
        counted(static_cast<std::uint64_t>(differ), "plan") + (differ == 1 ? " fails" : " fail"),
        differ == 1 ? "passes" : "pass"));
  for (const auto& problem : fleet.problems) lines.push_back("hub: " + problem);
  for (const auto& lacks : fleet.not_described) lines.push_back("report: " + lacks);
  return lines;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : xml_characters(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string html_of(const Grid& grid) {
  std::string out = fmt::format("<h2>{}</h2>\n", grid.title);
  if (grid.rows.empty()) return out + "<p>none</p>\n";
  out += "<table>\n<tr>";
  for (const auto& column : grid.columns) out += fmt::format("<th>{}</th>", column.title);
  out += "</tr>\n";
  for (const auto& row : grid.rows) {
    out += "<tr>";
    for (const auto& cell : row) out += fmt::format("<td>{}</td>", escaped(cell));
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

}  // namespace

std::string fleet_text(const Fleet& fleet) {
  std::string out;
  for (const auto& line : sentences_of(fleet)) out += printable(line) + "\n";
  for (const auto& grid : grids_of(fleet)) {
    if (grid.rows.empty()) continue;
    Table table(grid.columns);
    for (const auto& row : grid.rows) table.add(row);
    out += fmt::format("\n{}\n{}", grid.title, table.text("  "));
  }
  return out;
}

std::string fleet_json(const Fleet& fleet) {
  const auto shard = [](const FleetShard& s) {
    return Json{{"shard", s.shard},     {"state", s.state},       {"host", s.host},
                {"device", s.device},   {"attempts", s.attempts}, {"plans", s.plans},
                {"seconds", s.seconds}, {"findings", s.findings}, {"published", s.published},
                {"problem", s.problem}};
  };
  const auto loss = [](const FleetLoss& l) {
    return Json{{"job", l.job.kind},     {"number", l.job.number}, {"attempt", l.attempt},
                {"host", l.host},        {"why", l.why},           {"since", l.since},
                {"again_at", l.again_at}};
  };
  const auto model = [](const FleetModel& m) {
    return Json{{"name", m.name}, {"shards", m.shards},     {"state", m.state},
                {"host", m.host}, {"attempts", m.attempts}, {"problem", m.problem}};
  };
  const auto device = [](const FleetComparison::Device& d) {
    return Json{{"device", d.device}, {"failed", d.failed}, {"runs", d.runs}, {"says", d.says}};
  };
  const auto comparison = [&](const FleetComparison& c) {
    return Json{{"finding", c.finding},
                {"signature", c.signature},
                {"found_on", c.found_on},
                {"differs", c.differs},
                {"devices", list(c.devices, device)}};
  };
  return print(
      {{"folder", fleet.folder},
       {"created", fleet.created},
       {"version", fleet.version},
       {"seed", std::to_string(fleet.seed)},
       {"shards", list(fleet.shards, shard)},
       {"losses", list(fleet.losses, loss)},
       {"findings", fleet.findings},
       {"models", list(fleet.models, model)},
       {"comparisons", list(fleet.comparisons, comparison)},
       {"seconds_to_first", fleet.seconds_to_first ? Json(*fleet.seconds_to_first) : Json()},
       {"not_described", fleet.not_described},
       {"hub",
        {{"state", fleet.hub_state},
         {"host", fleet.hub_host},
         {"updated", fleet.hub_updated},
         {"attempts", fleet.hub_attempts},
         {"merges", fleet.merges},
         {"merge_seconds", fleet.merge_seconds},
         {"granted", fleet.granted},
         {"leased", fleet.leased},
         {"reduced", fleet.reduced},
         {"problems", fleet.problems}}}});
}

std::string fleet_html(const Fleet& fleet) {
  std::string out =
      "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width\">\n<title>Redzone: a fleet</title>\n<style>\n";
  out += page_css;
  out += "</style>\n<h1>A fleet</h1>\n";
  if (fleet.has_night) out += "<p><a href=\"index.html\">The report of the night</a></p>\n";
  for (const auto& line : sentences_of(fleet)) out += fmt::format("<p>{}</p>\n", escaped(line));
  for (const auto& grid : grids_of(fleet)) out += html_of(grid);
  return out + "</html>\n";
}

}  // namespace redzone::report
