#include <fmt/format.h>

#include <algorithm>

#include "report/format.h"
#include "report/tma.h"

namespace redzone::report {
namespace {

std::string broken_text(const tma::Advice& a, std::string_view what) {
  return fmt::format("  {}: {} is {}; allowed: {}\n    why: {}\n    do:  {}\n", what, a.where, a.is,
                     a.limit, a.why, a.change);
}

std::string diagnosis_title(const tma::Diagnosis& d) {
  if (d.line == 0) return "descriptor";
  std::string out = fmt::format("line {}", d.line);
  if (d.times > 1) out += fmt::format(" (the same {})", counted(d.times, "time"));
  return out;
}

std::string conclusion(const tma::Diagnosis& d) {
  switch (d.verdict) {
    case tma::Verdict::wrong:
      return fmt::format("{} broken", counted(d.broken.size(), "rule"));
    case tma::Verdict::unexplained:
      return "refused by a rule that is not known here";
    case tma::Verdict::clean:
      return "no rule is broken";
    case tma::Verdict::unreadable:
      break;
  }
  return "cannot be judged";
}

std::string diagnosis_text(const tma::Diagnosis& d) {
  std::string out = fmt::format("{}: {}\n", diagnosis_title(d), conclusion(d));
  // Most values of an unreadable descriptor are unknown.
  if (d.verdict != tma::Verdict::unreadable)
    out += fmt::format("  {}{}\n",
                       d.not_judged.empty() ? "" : "with harmless values for what is not judged: ",
                       text_of(d.descriptor));
  for (const auto& advice : d.broken) out += broken_text(advice, "wrong");
  for (const auto& advice : d.doubtful) out += broken_text(advice, "doubtful");
  for (const auto& note : d.notes) out += "  note: " + printable(note) + "\n";
  for (const auto& what : d.not_judged) out += "  not judged: " + printable(what) + "\n";
  return out;
}

}  // namespace

tma::Verdict verdict_of(const tma::Explanation& explanation) {
  const auto any = [&](tma::Verdict verdict) {
    return std::any_of(explanation.diagnoses.begin(), explanation.diagnoses.end(),
                       [&](const auto& d) { return d.verdict == verdict; });
  };
  if (any(tma::Verdict::wrong) || any(tma::Verdict::unexplained)) return tma::Verdict::wrong;
  if (explanation.diagnoses.empty() || any(tma::Verdict::unreadable))
    return tma::Verdict::unreadable;
  return tma::Verdict::clean;
}

std::string explanation_text(const tma::Explanation& explanation) {
  if (explanation.diagnoses.empty())
    return "no descriptor found: a block begins with \"TMA Desc Addr:\", \"tmaFormat:\" or "
           "\"globalDim\"\n";
  std::string out;
  for (const auto& d : explanation.diagnoses) out += (out.empty() ? "" : "\n") + diagnosis_text(d);
  if (explanation.left_out > 0)
    out += fmt::format("\n{} more, not shown\n", counted(explanation.left_out, "block"));
  return out;
}

}  // namespace redzone::report
