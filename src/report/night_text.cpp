#include <fmt/format.h>

#include <algorithm>

#include "report/format.h"
#include "report/night_formats.h"

namespace redzone::report {
namespace {

std::string ratio(std::int64_t k, std::int64_t n) {
  return n == 0 ? "" : fmt::format("{}/{}", k, n);
}

// "new", "regressed (was fixed)".
std::string standing_of(const NightFinding& f) {
  std::string out(name_of(f.ledger.standing));
  if (f.before && *f.before != f.ledger.standing)
    out += fmt::format(" (was {})", name_of(*f.before));
  return out;
}

std::string counts_text(const StandingCounts& counts) {
  std::string out;
  for (const auto& [standing, count] : counts)
    if (count > 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count, name_of(standing));
  return out.empty() ? "none" : out;
}

std::string head(const Night& n) {
  std::string out = fmt::format("night {} on {}: {}", n.campaign, printable(n.device), n.started);
  if (n.shards > 1) out += fmt::format(", shard {}/{}", n.shard, n.shards);
  if (n.resumed > 0)
    out += fmt::format(", resumed {}", counted(static_cast<std::uint64_t>(n.resumed), "time"));
  out += fmt::format("\n  self-proof  {} caught\n", counted(n.planted_bugs_caught, "planted bug"));
  out += fmt::format("  time        {} replaying, {} fuzzing, of {}; seed {}\n",
                     clock_time(n.replay_seconds), clock_time(n.fuzz_seconds),
                     clock_time(n.budget_seconds), n.seed);
  out += fmt::format("  fuzzed      {}, {}\n", counted(n.plans, "plan"), counted(n.calls, "call"));
  out += fmt::format("  verdicts    {} pass, {} fail, {} inconclusive, {} not applicable, {}\n",
                     grouped(n.pass), grouped(n.fail), grouped(n.inconclusive),
                     grouped(n.not_applicable), counted(n.harness_errors, "harness error"));
  if (!n.trend.empty())
    out += fmt::format("  findings    {}\n", counts_text(n.trend.back().findings));
  if (!n.problem.empty()) out += fmt::format("  ended early {}\n", printable(n.problem));
  return out;
}

std::string findings(const Night& n) {
  if (n.findings.empty()) return "\nno findings\n";
  Table table({{"finding", Table::Align::right},
               {"standing"},
               {"tonight"},
               {"failed", Table::Align::right},
               {"signature"},
               {"replay"},
               {"link"}});
  for (const auto& f : n.findings)
    table.add({std::to_string(f.id), standing_of(f), std::string(name_of(f.tonight)),
               ratio(f.k, f.n), f.signature, f.replay, f.ledger.link});
  return "\n" + table.text();
}

std::string corpus(const Night& n) {
  if (n.corpus.empty()) return "";
  Table table({{"plan"}, {"tonight"}, {"failed", Table::Align::right}, {"finding"}, {"reason"}});
  for (const auto& p : n.corpus)
    table.add({p.file, std::string(name_of(p.tonight)), ratio(p.k, p.n),
               p.finding ? std::to_string(*p.finding) : "", p.reason});
  return "\ncorpus\n" + table.text("  ");
}

std::string targets(const Night& n) {
  if (n.targets.empty()) return "";
  Table table({{"target"},
               {"plans", Table::Align::right},
               {"calls", Table::Align::right},
               {"device s", Table::Align::right},
               {"share", Table::Align::right},
               {"findings"}});
  for (const auto& t : n.targets)
    table.add({t.name, grouped(t.plans), grouped(t.calls), fmt::format("{:.1f}", t.device_seconds),
               fmt::format("{:.0f}%", 100 * t.share), counts_text(t.findings)});
  return "\n" + table.text();
}

std::string gaps(const Night& n) {
  if (n.not_judged.empty()) return "";
  std::string out = "\nnot judged\n";
  for (const auto& gap : n.not_judged)
    out += fmt::format("  {}: {}\n", printable(gap.what), printable(gap.why));
  return out;
}

std::string verdict(const Night& n) {
  const auto alarms =
      static_cast<std::uint64_t>(std::count_if(n.findings.begin(), n.findings.end(), is_alarm));
  if (alarms > 0)
    return fmt::format("\n{} to look at: new or regressed\n", counted(alarms, "finding"));
  return n.exit_code == 0 ? "\nnothing new\n" : "";
}

}  // namespace

std::string night_text(const Night& night) {
  return head(night) + findings(night) + corpus(night) + targets(night) + gaps(night) +
         verdict(night);
}

}  // namespace redzone::report
