#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/campaign_record.h"
#include "core/plan_text.h"
#include "core/replay_outcome.h"
#include "core/terminal.h"
#include "report/format.h"
#include "report/reference.h"
#include "report/text.h"

namespace redzone::report {
namespace {

// "fail: illegal-access: read after x in scan (t)", "inconclusive: the device ran out of memory".
std::string outcome_of(const ReplayRun& run) {
  if (run.result == RunResult::not_judged && run.verdict.outcome == Outcome::pass)
    return "not judged: no trial ran";
  const std::string name(run.result == RunResult::other ? "fails otherwise"
                                                        : name_of(run.verdict.outcome));
  if (run.verdict.failed()) return fmt::format("{}: {}", name, run.verdict.signature.text());
  if (run.verdict.outcome == Outcome::pass && run.verdict.reference.calls > 0)
    return fmt::format("{}: {}", name, compared_text(run.verdict.reference));
  return run.verdict.reason.empty() ? name : fmt::format("{}: {}", name, run.verdict.reason);
}

// "memcheck: 2 records", then a line for each.
std::string sanitizer_text(const SanitizerReport& report) {
  std::string out =
      fmt::format("{}: {}", name_of(report.tool), counted(report.records.size(), "record"));
  if (report.dropped > 0) out += fmt::format(", {} more not kept", grouped(report.dropped));
  out += '\n';
  if (!report.problem.empty()) out += fmt::format("  problem: {}\n", printable(report.problem));
  for (const auto& record : report.records)
    out += fmt::format("  {}{}\n", record.warning ? "warning: " : "", printable(describe(record)));
  return out;
}

}  // namespace

namespace {

// Maximum number of reasons in a summary.
constexpr std::size_t kMostReasons = 5;

// A mistake in a spec; its message may differ in numbers between shapes.
struct Mistake {
  const Unjudged* example;
  std::uint64_t plans = 0, alike = 0;
};

// Removes numbers, but not numbers in quotes or after letters, which are parts of names; "3x4" is a
// size. Uses only the beginning of a long text.
std::string without_numbers(const std::string& whole) {
  constexpr std::size_t kEnough = 2000;  // std::regex needs stack for each byte
  const std::string text = whole.substr(0, kEnough);
  static const std::regex token(R"([A-Za-z_][A-Za-z0-9_']*|'[^']*'|([-+]?[0-9][0-9.x]*))");
  std::string out;
  auto end = text.begin();
  for (std::sregex_iterator it(text.begin(), text.end(), token), none; it != none; ++it) {
    if (!(*it)[1].matched) continue;
    out.append(end, (*it)[0].first);
    end = (*it)[0].second;
  }
  return out.append(end, text.end());
}

// Ordered by the first example of each mistake.
std::vector<Mistake> mistakes_of(std::span<const Unjudged> all) {
  std::vector<Mistake> out;
  std::map<std::pair<std::string, std::string>, std::size_t> known;
  for (const Unjudged& u : all) {
    const auto [at, added] =
        known.emplace(std::pair(u.target, without_numbers(u.reason)), out.size());
    if (added)
      out.push_back({&u, u.plans});
    else {
      out[at->second].plans += u.plans;
      ++out[at->second].alike;
    }
  }
  return out;
}

// Why plans were not judged, the most frequent reasons first. A mistake in a spec is always
// included, once.
std::string unjudged_text(std::vector<Unjudged> all) {
  std::string out;
  const auto others =
      std::stable_partition(all.begin(), all.end(), [](const Unjudged& u) { return u.spec_error; });
  for (const Mistake& m : mistakes_of({all.begin(), others}))
    out += fmt::format(
        "  SPEC      {} ({} not judged{})\n", printable(m.example->reason),
        counted(m.plans, "plan"),
        m.alike == 0 ? "" : fmt::format("; {} alike", counted(m.alike, "further shape")));
  all.erase(all.begin(), others);
  std::stable_sort(all.begin(), all.end(),
                   [](const Unjudged& a, const Unjudged& b) { return a.plans > b.plans; });
  for (std::size_t i = 0; i < std::min(all.size(), kMostReasons); ++i)
    out += fmt::format("  {} of {} {}: {}\n", counted(all[i].plans, "plan"),
                       printable(all[i].target), name_of(all[i].outcome),
                       all[i].reason.empty() ? "other reasons" : printable(all[i].reason));
  if (all.size() > kMostReasons)
    out += fmt::format("  and {}\n", counted(all.size() - kMostReasons, "more reason"));
  return out;
}

// The first lines, one per target, then the number of further targets.
std::string some_of(std::span<const std::string> lines, std::string_view what) {
  const std::size_t told = std::min(lines.size(), kMostReasons);
  std::string out;
  for (std::size_t i = 0; i < told; ++i) out += lines[i];
  if (told < lines.size())
    out += fmt::format("  and {} {}\n", counted(lines.size() - told, "more target"), what);
  return out;
}

// The targets that have a reference but no compared call.
std::string targets_not_compared(std::span<const Compared> targets) {
  std::vector<std::string> lines;
  for (const auto& t : targets)
    if (const std::string why = not_compared_text(t.reference, t.not_compared); !why.empty())
      lines.push_back(fmt::format("  {}: {}\n", printable(t.target), printable(why)));
  return some_of(lines, "not judged by reference");
}

// Which of the target's own memory was not guarded or not poisoned.
std::string unguarded_text(const OwnMemory& m) {
  const auto blocks = [](std::uint64_t n, std::uint64_t bytes) {
    return fmt::format("{} ({} bytes)", counted(n, "block"), grouped(bytes));
  };
  const auto were = [](std::uint64_t n) { return n == 1 ? "was" : "were"; };
  std::vector<std::string> parts;
  if (m.unguarded_trials > 0)
    parts.push_back(
        fmt::format("none was guarded in {}: the worker had nothing in front of its allocator",
                    counted(m.unguarded_trials, "trial")));
  if (m.left_out_blocks > 0)
    parts.push_back(fmt::format("{} exceeded the limits and {} not guarded",
                                blocks(m.left_out_blocks, m.left_out_bytes),
                                were(m.left_out_blocks)));
  if (m.other_blocks > 0)
    parts.push_back(fmt::format("{} of other libraries {} not guarded",
                                blocks(m.other_blocks, m.other_bytes), were(m.other_blocks)));
  if (m.unpoisoned_blocks > 0)
    parts.push_back(fmt::format("{} {} too large to poison", counted(m.unpoisoned_blocks, "block"),
                                were(m.unpoisoned_blocks)));
  return fmt::format("{}", fmt::join(parts, "; "));
}

// Warnings of a tool, which fail no plan.
std::string warnings_text(const ToolWarnings& warnings) {
  std::vector<std::string> parts;
  for (const ToolWarning& w : warnings.seen())
    parts.push_back(fmt::format("{} in {}: {}", name_of(w.tool), counted(w.reports, "plan"),
                                printable(w.what)));
  if (warnings.others() > 0)
    parts.push_back(fmt::format("others in {}", counted(warnings.others(), "plan")));
  return fmt::format("{}", fmt::join(parts, "; "));
}

// Notes about targets: outputs that were not judged, dims that no plan covered, plans without guard
// pages, and warnings of tools.
std::string targets_judged(std::span<const Judged> targets) {
  std::vector<std::string> by_nothing, out_of_reach, between_canaries, refused, hung, unguarded,
      warned;
  for (const auto& t : targets) {
    if (const std::string why = outputs_not_judged_text(printable(t.target), t.reference, t.outputs,
                                                        printable(t.not_judged));
        !why.empty())
      by_nothing.push_back(fmt::format("  {}\n", why));
    if (!t.out_of_reach.empty())
      out_of_reach.push_back(
          fmt::format("  {}: beyond the work budget of the device, never generated: {}\n",
                      printable(t.target), printable(t.out_of_reach)));
    if (t.between_canaries > 0)
      between_canaries.push_back(fmt::format(
          "  {}: {} ran between canaries instead of guard pages: a fault of it was found\n",
          printable(t.target), counted(t.between_canaries, "plan")));
    if (t.refused_calls > 0)
      refused.push_back(fmt::format("  {}: {} of its calls refused and left out, the first: {}\n",
                                    printable(t.target), grouped(t.refused_calls),
                                    printable(t.why_refused)));
    if (t.hung_calls > 0)
      hung.push_back(fmt::format("  {}: {} of its calls left out: such calls have hung\n",
                                 printable(t.target), grouped(t.hung_calls)));
    if (const std::string text = unguarded_text(t.own_memory); !text.empty())
      unguarded.push_back(fmt::format("  {}: of its own memory, {}\n", printable(t.target), text));
    if (const std::string text = warnings_text(t.warnings); !text.empty())
      warned.push_back(fmt::format("  {}: warnings of {}\n", printable(t.target), text));
  }
  return some_of(by_nothing, "whose outputs no oracle judged") +
         some_of(out_of_reach, "with dims beyond the budget of the device") +
         some_of(between_canaries, "with plans between canaries") +
         some_of(refused, "with refused calls") + some_of(hung, "with calls that hang") +
         some_of(unguarded, "with memory that was not guarded") +
         some_of(warned, "with warnings of a tool");
}

}  // namespace

Reliability ReplayResult::reliability() const {
  Reliability r;
  for (const auto& run : runs) {
    r.k += run.result == RunResult::recorded;
    r.n += run.result == RunResult::recorded || run.result == RunResult::other ||
           run.result == RunResult::pass;
  }
  return r;
}

std::string campaign_text(const CampaignRecord& campaign, std::span<const Finding> found,
                          const SelfProof& proof, std::string_view db, const Scope& scope) {
  const CampaignStats& s = campaign.stats;
  std::string out = fmt::format("campaign {} on {}: {:.1f} s, seed {}\n", campaign.id,
                                printable(campaign.device), s.seconds, campaign.seed);
  out += fmt::format("  self-proof: {} caught in {} ms\n", counted(proof.caught, "planted bug"),
                     proof.took.count());
  out += fmt::format("  plans     {} ({}/s)\n", grouped(s.plans),
                     rate(per_second(s.plans, s.seconds)));
  out += fmt::format("  calls     {} ({}/s)\n", grouped(s.calls),
                     rate(per_second(s.calls, s.seconds)));
  out += fmt::format("  trials    {}\n", grouped(s.trials));
  out += fmt::format("  verdicts  {} pass, {} fail, {} inconclusive, {} not applicable, {}\n",
                     grouped(s.pass), grouped(s.fail), grouped(s.inconclusive),
                     grouped(s.not_applicable), counted(s.harness_errors, "harness error"));
  if (const std::string compared = compared_calls(s.reference); !compared.empty())
    out +=
        fmt::format("  compared  {} with the reference{}\n", compared, sampled_text(s.reference));
  out += targets_not_compared(scope.compared);
  out += targets_judged(scope.targets);
  for (const auto& slow : scope.slow_functions)
    out += fmt::format("  slow      {}; such functions took more than half of the time\n",
                       printable(slow));
  out += unjudged_text(scope.unjudged);
  out += fmt::format("  suspects  {}\n", grouped(s.suspects));
  out += fmt::format("  findings  {} new, {} known\n", grouped(s.new_findings),
                     grouped(s.known_findings));
  if (const auto unconfirmed = unconfirmed_alarms(found); unconfirmed > 0)
    out += fmt::format("  failures  {} seen, not confirmed: no time\n", grouped(unconfirmed));
  out += fmt::format("  workers   {} lost\n", grouped(s.workers_lost));
  if (!scope.not_judged.empty())
    out += fmt::format("  judged by {}; {}, so not by {}\n", fmt::join(scope.judged, ", "),
                       scope.why_not_judged, fmt::join(scope.not_judged, ", "));
  if (s.pass + s.fail == 0) out += "nothing was judged: no plan passed and none failed\n";
  if (found.empty()) return out;

  Table table({{"finding", Table::Align::right}, {"state"}, {"signature"}, {"replay"}});
  for (const auto& f : found)
    table.add({std::to_string(f.id), state_text(f), f.signature.text(), replay_command(f, db)});
  return out + "\n" + table.text();
}

std::string replay_text(const ReplayResult& result) {
  const Reliability r = result.reliability();
  std::string out = fmt::format(
      "{}: {} of {} failed", printable(result.subject), r.k,
      counted(static_cast<std::uint64_t>(r.n),
              r.n == static_cast<std::int64_t>(result.runs.size()) ? "run" : "judged run"));
  if (result.expected) out += fmt::format(" as recorded: {}", printable(result.expected->text()));
  out += '\n';

  std::vector<std::pair<std::string, std::uint64_t>> outcomes;  // in the order of appearance
  for (const auto& run : result.runs) {
    const std::string text = outcome_of(run);
    auto it = std::find_if(outcomes.begin(), outcomes.end(),
                           [&](const auto& o) { return o.first == text; });
    if (it == outcomes.end()) it = outcomes.insert(it, {text, 0});
    ++it->second;
  }
  Table table({{"runs", Table::Align::right}, {"outcome"}});
  for (const auto& [text, runs] : outcomes) table.add({grouped(runs), text});
  if (!table.empty()) out += table.text("  ");
  if (result.other_finding)
    out += fmt::format("  the other failure is stored as finding {}\n", *result.other_finding);
  for (const auto& run : result.runs) {
    if (!run.sanitizer) continue;
    out += "\n" + sanitizer_text(*run.sanitizer);
    break;  // the others are similar
  }
  return out;
}

std::string progress_line(const Progress& p, std::size_t columns) {
  std::string out =
      fmt::format("{} plans/s  {} calls/s  {}  {}", rate(per_second(p.plans, p.seconds)),
                  rate(per_second(p.calls, p.seconds)), counted(p.suspects, "suspect"),
                  counted(p.new_findings, "new finding"));
  if (p.known_findings > 0) out += fmt::format("  {} known", grouped(p.known_findings));
  if (p.seconds_left) out += fmt::format("  {} left", clock_time(*p.seconds_left));
  if (p.plans_left) out += fmt::format("  {} left", counted(*p.plans_left, "plan"));
  if (out.size() > columns) out.resize(columns);
  return out;
}

std::string progress_log(const Progress& p) {
  std::string out = fmt::format(
      "progress seconds={:.1f} plans={} plans_per_s={:.1f} calls={} calls_per_s={:.1f} "
      "suspects={} new_findings={} known_findings={}",
      p.seconds, p.plans, per_second(p.plans, p.seconds), p.calls, per_second(p.calls, p.seconds),
      p.suspects, p.new_findings, p.known_findings);
  if (p.seconds_left) out += fmt::format(" seconds_left={:.1f}", std::max(0.0, *p.seconds_left));
  if (p.plans_left) out += fmt::format(" plans_left={}", *p.plans_left);
  return out + '\n';
}

std::string found_line(const Finding& f, double seconds) {
  std::string out = fmt::format("{:.1f} s: finding {} ", seconds, f.id);
  const bool untried = f.reduction.plans == 0 && f.reduction.end != ReductionEnd::minimal;
  if (f.reduction.end == ReductionEnd::none) {
    out += fmt::format("{}, {} of {} runs", name_of(f.state), f.reliability.k, f.reliability.n);
  } else if (untried) {
    out += fmt::format("not reduced, {}", name_of(f.reduction.end));
  } else {
    const auto calls = call_count(f.plan);
    out += fmt::format("reduced to {} call{}, {}", calls, calls == 1 ? "" : "s",
                       name_of(f.reduction.end));
  }
  return out + ": " + printable(f.signature.text());
}

}  // namespace redzone::report
