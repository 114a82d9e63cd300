#include <fmt/format.h>

#include <cctype>

#include "report/format.h"
#include "report/night_formats.h"
#include "report/night_words.h"
#include "report/reference.h"

namespace redzone::report {
namespace {

std::string ratio_or_nothing(std::int64_t k, std::int64_t n) {
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
  std::string out =
      fmt::format("night {} on {}: {}", n.campaign, printable(n.device), printable(n.started));
  if (const std::string shards = shard_text(n); !shards.empty()) out += ", " + shards;
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
  if (const std::string compared = compared_calls(n.reference); !compared.empty())
    out +=
        fmt::format("  compared    {} with the reference{}\n", compared, sampled_text(n.reference));
  if (!n.trend.empty())
    out += fmt::format("  findings    {}\n", counts_text(n.trend.back().findings));
  if (!n.problem.empty()) out += fmt::format("  ended early {}\n", printable(n.problem));
  return out;
}

std::string findings_section(const Night& n) {
  if (n.findings.empty()) return "\nno findings\n";
  Table table({{"finding", Table::Align::right},
               {"standing"},
               {"tonight"},
               {"failed", Table::Align::right},
               {"signature"},
               {"replay"},
               {"link"}});
  for (const auto& f : n.findings)
    table.add({std::to_string(f.id), standing_of(f), std::string(name_of(f.outcome)),
               ratio_or_nothing(f.k, f.n), f.signature, f.replay, f.ledger.link});
  return "\n" + table.text();
}

std::string corpus(const Night& n) {
  if (n.corpus.empty()) return "";
  Table table({{"plan"}, {"tonight"}, {"failed", Table::Align::right}, {"finding"}, {"reason"}});
  for (const auto& p : n.corpus)
    table.add({p.file, std::string(name_of(p.outcome)), ratio_or_nothing(p.k, p.n),
               p.finding ? std::to_string(*p.finding) : "", p.reason});
  return "\ncorpus\n" + table.text("  ");
}

std::string targets(const Night& n) {
  if (n.targets.empty()) return "";
  Table table({{"target"},
               {"plans", Table::Align::right},
               {"calls", Table::Align::right},
               {"compared", Table::Align::right},
               {"device s", Table::Align::right},
               {"share", Table::Align::right},
               {"findings"}});
  for (const auto& t : n.targets)
    table.add({t.name, grouped(t.plans), grouped(t.calls), compared_count(t.reference),
               fmt::format("{:.1f}", t.device_seconds), fmt::format("{:.0f}%", 100 * t.share),
               counts_text(t.findings)});
  return "\n" + table.text();
}

std::string gaps(const Night& n) {
  if (n.not_judged.empty()) return "";
  std::string out = "\nnot judged\n";
  for (const auto& gap : n.not_judged)
    out += fmt::format("  {}: {}\n", printable(gap.what), printable(gap.why));
  return out;
}

// The sentence as a separate line: "nothing new".
std::string line_of(std::string_view sentence) {
  std::string out(sentence.substr(0, sentence.find_last_not_of('.') + 1));
  out.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(out.front())));
  return out + '\n';
}

std::string verdict_section(const Night& n) {
  std::string out = "\n";
  const auto alarms = alarm_texts(n);
  for (const auto& text : alarms) out += text + '\n';
  if (alarms.empty() || n.exit_code != 1) out += line_of(verdict_sentence(n));
  return out;
}

}  // namespace

std::string night_text(const Night& night) {
  return head(night) + findings_section(night) + corpus(night) + targets(night) + gaps(night) +
         verdict_section(night);
}

}  // namespace redzone::report
