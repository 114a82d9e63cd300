#include "report/night_words.h"

#include <fmt/format.h>

#include <utility>

#include "report/format.h"

namespace redzone::report {

std::string_view exit_sentence(int exit_code) {
  switch (exit_code) {
    case 0:
      return "Nothing new.";
    case 1:
      return "New or regressed findings.";
    case 2:
      return "The command line or a file was wrong: nothing here is a pass.";
    case 4:
      return "Nothing could be judged, or a requested target or plan was not: this night is not a "
             "pass.";
    case 130:
      return "Interrupted; what was found is here.";
    default:
      return "The night failed with a harness error: nothing here is a pass.";
  }
}

std::string_view verdict_sentence(const Night& night) {
  if (night.exit_code != 1) return exit_sentence(night.exit_code);
  const Alarms alarms = alarms_of(night);
  if (alarms.count() == 0) return "What was new or regressed has been marked since.";
  if (alarms.findings > 0) return exit_sentence(night.exit_code);
  return alarms.unconfirmed > 0 ? "Failures that were seen and not confirmed."
                                : "Plans of the corpus that fail.";
}

std::vector<std::string> alarm_texts(const Night& night) {
  const Alarms alarms = alarms_of(night);
  std::vector<std::string> out;
  const auto add = [&](std::size_t count, std::string_view what, std::string_view how) {
    if (count > 0) out.push_back(fmt::format("{} to look at: {}", counted(count, what), how));
  };
  add(alarms.findings, "finding", "new or regressed");
  add(alarms.unconfirmed, "failure", "seen to fail, not confirmed: no time");
  add(alarms.plans, "corpus plan", "failed");
  return out;
}

std::string shard_text(const Night& night) {
  if (night.shards <= 1) return "";
  if (night.parts.size() <= 1) return fmt::format("shard {} of {}", night.shard, night.shards);
  std::string out;
  int last = 0;  // a shard of a fleet may have started its night more than once
  for (const auto& part : night.parts)
    if (std::exchange(last, part.shard) != part.shard)
      out += fmt::format("{}{}", out.empty() ? "shards " : ", ", part.shard);
  return fmt::format("{} of {}", out, night.shards);
}

bool could_judge(const Night& night) {
  return night.problem.empty() && (night.exit_code == 0 || night.exit_code == 1);
}

std::string outcome_text(ReplayOutcome outcome, std::int64_t k, std::int64_t n,
                         std::string_view reason) {
  std::string out(name_of(outcome));
  if (n > 0) out += fmt::format(", {} of {} runs failed", k, n);
  if (!reason.empty()) out += fmt::format(": {}", reason);
  return out;
}

std::string outcome_text(const NightFinding& f) {
  std::string out = outcome_text(f.outcome, f.k, f.n, "");
  if (f.occurrences > 0)
    out += fmt::format(", shown by {}", counted(static_cast<std::uint64_t>(f.occurrences), "plan"));
  if (!f.outcome_reason.empty()) out += ": " + f.outcome_reason;
  return out;
}

std::string state_sentence(const NightFinding& f) {
  std::string out(name_of(f.ledger.standing));
  if (f.confidence != "confirmed" && !f.confidence.empty()) out += ", " + f.confidence;
  if (!f.ledger.link.empty())
    out += " (" + f.ledger.link + ")";
  else if (!f.ledger.note.empty())
    out += " (" + f.ledger.note + ")";
  return out + "; tonight: " + outcome_text(f);
}

}  // namespace redzone::report
