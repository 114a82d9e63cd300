#include <fmt/format.h>

#include <algorithm>

#include "bench/report.h"
#include "report/format.h"

namespace redzone::bench {
namespace {

using report::Table;
using enum report::Table::Align;

std::string ratio(std::optional<double> r) {
  return r ? fmt::format("{:.2f}", *r) : "-";
}

std::string mapping_calls(const Column& c) {
  const Tally sum = c.sum();
  if (sum.trials == 0) return "-";
  return fmt::format("{:.3g}",
                     static_cast<double>(sum.mapping_calls) / static_cast<double>(sum.trials));
}

// "100%, 40% whole": shares of the calls with a reference.
std::string compared(const Column& c) {
  const Tally sum = c.sum();
  if (sum.comparable == 0) return "-";
  const auto percent = [&](std::uint64_t n) {
    return 100 * static_cast<double>(n) / static_cast<double>(sum.comparable);
  };
  std::string all = fmt::format("{:.0f}%", percent(sum.compared));
  if (sum.sampled == 0) return all;
  return fmt::format("{}, {:.0f}% whole", all, percent(sum.compared - sum.sampled));
}

// Phases as rows: microseconds per trial, and how often per trial.
std::string phases_text(const Throughput& t) {
  if (!t.why_no_phases.empty()) return "  phases: not measured: " + t.why_no_phases + "\n";
  if (t.phases.empty()) return "";
  std::vector<Table::Column> heads = {{"us/trial (times)"}};
  for (const auto& c : t.phases) heads.push_back({c.column, right});
  Table table(std::move(heads));
  const auto add = [&](const std::string& name, auto cell) {
    std::vector<std::string> row = {name};
    for (const auto& c : t.phases) row.push_back(cell(c));
    table.add(row);
  };
  for (std::size_t i = 0; i < t.phases.front().phases.size(); ++i) {
    const auto used = [&](const PhaseColumn& c) { return c.phases[i].times > 0; };
    if (std::none_of(t.phases.begin(), t.phases.end(), used)) continue;
    add(t.phases.front().phases[i].name, [&](const PhaseColumn& c) {
      if (!used(c)) return std::string("-");
      const auto trials = static_cast<double>(c.trials);
      return fmt::format("{:.1f} ({:.1f})", c.phases[i].us / trials,
                         static_cast<double>(c.phases[i].times) / trials);
    });
  }
  add("the rest", [](const PhaseColumn& c) {
    double us = 1e6 * c.seconds;
    for (const auto& p : c.phases) us -= p.us;
    return fmt::format("{:.1f}", us / static_cast<double>(c.trials));
  });
  add("in all", [](const PhaseColumn& c) { return fmt::format("{:.1f}", c.us_per_trial()); });
  return table.text("  ");
}

std::string throughput_text(const Throughput& t) {
  std::string out =
      fmt::format("\nthroughput, {} shapes: {} plans ({})\n", t.workload, t.plans, t.what);
  Table table({{"column"},
               {"workers", right},
               {"calls/s", right},
               {"of bare", right},
               {"of bare-screen", right},
               {"of launches", right},
               {"compared", right},
               {"mappings/trial", right},
               {"what"}});
  for (const auto& c : t.columns) {
    const auto rate = c.calls_per_s();
    const std::string note = c.why_not.empty() ? c.what : "not measured: " + c.why_not;
    table.add({c.name, std::to_string(c.workers), rate ? report::rate(*rate) : "-",
               ratio(t.ratio(c.name, kBare)), ratio(t.ratio(c.name, kBareScreen)),
               ratio(t.ratio(c.name, kLaunches)), compared(c), mapping_calls(c), note});
  }
  out += table.text("  ");
  if (const auto r = t.ratio(kScreen, kBareScreen))
    out += fmt::format("  the screen runs at {:.2f} of the bare speed for the same trials", *r);
  else
    out += fmt::format("  the screen makes {} of the calls of the bare loop",
                       ratio(t.ratio(kScreen, kBare)));
  if (const auto r = t.ratio(kScreen, kMemcheck))
    out += fmt::format(", at {:.1f} times memcheck's", *r);
  out += fmt::format("; generating a plan takes {:.0f} us more, in the driver\n", t.generate_us);
  return out + phases_text(t);
}

std::string detection_text(const std::vector<Detection>& all) {
  std::string out = "\ndetection: a campaign on each puzzle alone\n";
  Table table({{"puzzle"},
               {"seed", right},
               {"plans", right},
               {"first, s", right},
               {"reduced, s", right},
               {"calls", right},
               {"minimal"},
               {"finding"}});
  for (const auto& d : all) {
    if (d.found)
      table.add({d.puzzle, std::to_string(d.seed), report::grouped(d.plans_to_first),
                 fmt::format("{:.2f}", d.seconds_to_first),
                 fmt::format("{:.2f}", d.seconds_to_reduced), std::to_string(d.calls),
                 d.minimal ? "yes" : "no", d.signature});
    else
      table.add({d.puzzle, std::to_string(d.seed), "-", "-", "-", "-", "-", d.why_not});
  }
  return out + table.text("  ");
}

std::string fault_text(const FaultCost& f) {
  std::string out = "\ncost of a fault, median";
  if (!f.why_not.empty()) return out + ": not measured: " + f.why_not + "\n";
  out += fmt::format(" of {} faults of {}, ms\n", f.with_spare.wait_ms.size(), f.puzzle);
  Table table(
      {{""}, {"trial that faults", right}, {"wait for a worker", right}, {"next result", right}});
  for (const auto& [name, samples] :
       {std::pair{"warm spare", &f.with_spare}, std::pair{"fresh start", &f.without_spare}})
    table.add({name, fmt::format("{:.2f}", median(samples->trial_ms)),
               fmt::format("{:.2f}", median(samples->wait_ms)),
               fmt::format("{:.2f}", median(samples->next_ms))});
  return out + table.text("  ");
}

// For example "7/50 0.01s", "0/50", "-".
std::string cell_text(const ModeCell& c) {
  if (c.ran == 0) return "-";
  if (!c.seconds_to_first) return fmt::format("0/{}", c.ran);
  return fmt::format("{}/{} {:.2f}s", c.detected, c.ran, *c.seconds_to_first);
}

// For example "2 calls in 0.31s".
std::string reduced_text(const Detection& d) {
  if (!d.found) return "-";
  return fmt::format("{} {} in {:.2f}s", d.calls, d.calls == 1 ? "call" : "calls",
                     d.seconds_to_reduced);
}

std::string mistakes_text(const LauncherTable& t) {
  if (t.rows.empty()) return "";
  std::string out = fmt::format(
      "\nlaunchers: share of {} plans in which a mistake is detected, seconds to the first, and "
      "what "
      "a campaign reduces it to\n",
      t.plans);
  std::vector<Table::Column> columns = {{"mistake"}};
  for (const auto& c : t.columns) columns.push_back({c.name, right});
  columns.push_back({"reduced, none", right});
  columns.push_back({"reduced, native", right});
  Table table(std::move(columns));
  for (const auto& r : t.rows) {
    std::vector<std::string> cells = {r.puzzle};
    for (const auto& c : r.cells) cells.push_back(cell_text(c));
    cells.push_back(reduced_text(r.none));
    cells.push_back(reduced_text(r.native));
    table.add(cells);
  }
  out += table.text("  ");
  for (const auto& c : t.columns) out += fmt::format("  {}: {}\n", c.name, c.what);
  return out;
}

std::string launchers_text(const LauncherTable& t) {
  std::string out = mistakes_text(t);
  if (!t.correct.empty()) out += "\nlaunchers without a mistake\n";
  for (const auto& c : t.correct)
    out += c.why_not.empty()
               ? fmt::format("  {}: {} suspects in {} calls{} of {} plans, {} settings, {:.1f} s\n",
                             c.target, c.suspects, c.calls,
                             c.calls < c.wanted_calls
                                 ? fmt::format(" (of {}: its time was over)", c.wanted_calls)
                                 : "",
                             c.plans, c.settings, c.seconds)
               : fmt::format("  {}: not run: {}\n", c.target, c.why_not);
  return out;
}

std::string tma_text(const TmaReport& t) {
  const DescriptorRates& d = t.descriptors;
  std::string out = fmt::format("\nTMA descriptors: {} generated; the rules judge {} a second",
                                report::grouped(d.descriptors), report::rate(d.checker_per_s));
  out += d.driver_per_s ? fmt::format(", the driver {}; {} disagreements\n",
                                      report::rate(*d.driver_per_s), report::grouped(d.disagreed))
                        : fmt::format("; the driver was not compared: {}\n", d.why_no_driver);
  out += detection_text(t.length_one);
  return t.ragged ? out + throughput_text(*t.ragged) : out;
}

std::string modes_text(const ModeTable& t) {
  if (t.rows.empty()) return "";
  std::string out = fmt::format(
      "\nmodes: share of {} plans in which a puzzle is detected, and seconds to the first\n",
      t.plans);
  std::vector<Table::Column> columns = {{"puzzle"}};
  for (const auto& c : t.columns) columns.push_back({c.name, right});
  Table table(std::move(columns));
  for (const auto& r : t.rows) {
    std::vector<std::string> cells = {r.puzzle};
    for (const auto& c : r.cells) cells.push_back(cell_text(c));
    table.add(cells);
  }
  out += table.text("  ");
  for (const auto& c : t.columns) out += fmt::format("  {}: {}\n", c.name, c.what);
  return out;
}

std::string seconds_or_dash(std::optional<double> seconds) {
  return seconds ? fmt::format("{:.1f}", *seconds) : "-";
}

std::string minute_text(const Minute& m) {
  std::string out = fmt::format(
      "\nfirst minute: all puzzles and kernels for {:.0f} s, after {:.1f} s of start-up\n"
      "  {} of {} puzzles confirmed, {} minimal, the first confirmed after {} s; {} plans, {} "
      "workers lost\n",
      m.seconds, m.startup_s, m.confirmed(), m.puzzles.size(), m.minimal(),
      seconds_or_dash(m.first_confirmed_s()), report::grouped(m.plans), m.workers_lost);
  Table table({{"puzzle"},
               {"plans", right},
               {fmt::format("parts of {}", kMinuteParts), right},
               {"confirmed, s", right},
               {"minimal, s", right}});
  for (const auto& p : m.puzzles)
    table.add({p.puzzle, report::grouped(p.plans), std::to_string(p.parts),
               seconds_or_dash(p.confirmed_s), seconds_or_dash(p.minimal_s)});
  out += table.text("  ");
  if (const auto* fewest = m.fewest_plans())
    out += fmt::format("  fewest plans: {} for {}, in {} of {} parts of the time\n", fewest->plans,
                       fewest->puzzle, fewest->parts, kMinuteParts);
  const KernelShare& s = m.share;
  if (!s.why_not.empty()) return out + "  kernels: not measured: " + s.why_not + "\n";
  if (s.faulting.empty()) return out;
  out += fmt::format("  kernels: judged plans/s alone, and beside {}; the median keeps {}\n",
                     fmt::join(s.faulting, " and "), ratio(s.share()));
  for (const auto& k : s.kernels)
    out += fmt::format("    {:<24}  {:>7.1f}  {:>7.1f}\n", k.kernel, k.alone_plans_per_s,
                       k.beside_plans_per_s);
  return out;
}

std::string python_text(const PythonCalls& p) {
  if (!p.why_not.empty()) return "\nPython targets: not measured: " + p.why_not + "\n";
  std::string out = fmt::format("\nPython targets: {}\n", p.made_by);
  for (const auto& t : p.targets) out += throughput_text(t);
  return out + fault_text(p.fault_cost);
}

std::string guard_text(const GuardCost& g) {
  std::string out = "\nprograms under redzone guard";
  if (!g.why_not.empty()) return out + ": not measured: " + g.why_not + "\n";
  out += fmt::format(", medians of {} processes\n", g.runs);
  Table table({{"program"},
               {"way"},
               {"us", right},
               {"of plain", right},
               {"peak MiB", right},
               {"runs", right},
               {"note"}});
  for (const auto& r : g.rows)
    for (std::size_t i = 0; i < r.cells.size(); ++i) {
      const GuardCell& c = r.cells[i];
      const bool some = !c.us.empty();
      table.add({i == 0 ? r.program : "", g.columns[i].name,
                 some ? fmt::format("{:.1f}", median(c.us)) : "-",
                 ratio(g.ratio(r, g.columns[i].name, kPlain)),
                 some ? fmt::format("{:.0f}", median(c.peak_mib)) : "-",
                 std::to_string(c.us.size()), c.why_not});
    }
  out += table.text("  ");
  for (const auto& r : g.rows)
    out += fmt::format("  {}: {}; us of one {}{}\n", r.program, r.what,
                       r.unit.empty() ? "unit" : r.unit, r.with.empty() ? "" : "; " + r.with);
  for (const auto& c : g.columns) out += fmt::format("  {}: {}\n", c.name, c.what);
  return out;
}

}  // namespace

std::string report_text(const Report& r) {
  const auto& e = r.environment;
  std::string out =
      fmt::format("{}{}, {}\ncommit {}, {}, {:.0f} s, load average {:.1f} on {} cores{}\n",
                  e.device, e.driver.empty() ? "" : ", driver " + e.driver, e.toolkit, r.commit,
                  r.date, r.seconds, r.load_average, r.cores, r.quick ? ", quick" : "");
  if (r.interrupted) out += "interrupted: what was measured until then\n";
  for (const auto& t : r.throughput) out += throughput_text(t);
  if (!r.detection.empty()) out += detection_text(r.detection);
  if (!r.fault_cost.puzzle.empty() || !r.fault_cost.why_not.empty())
    out += fault_text(r.fault_cost);
  out += modes_text(r.modes) + launchers_text(r.launchers);
  if (r.tma) out += tma_text(*r.tma);
  if (r.minute) out += minute_text(*r.minute);
  if (r.python) out += python_text(*r.python);
  if (r.guard) out += guard_text(*r.guard);
  return out;
}

}  // namespace redzone::bench
