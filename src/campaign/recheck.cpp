#include "campaign/recheck.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace redzone::campaign {
namespace {

constexpr int kFewest = 4;
constexpr int kMost = 60;  // of one plan in one night

// Of the oracles' verdicts on one run: a failure that counts; else what kept all from judging; else
// a pass.
const Verdict& decisive(std::span<const Answer> answers, const std::optional<Signature>& expected) {
  const Verdict* best = nullptr;
  const auto weight = [&](const Verdict& v) {
    if (v.failed())
      return !expected || same_bug(v.signature, *expected)
                 ? -100 + static_cast<int>(v.signature.kind)
                 : 0;
    if (v.outcome == Outcome::pass) return 1;
    return v.outcome == Outcome::not_applicable ? 4 : 3;
  };
  for (const auto& answer : answers)
    if (best == nullptr || weight(answer.verdict) < weight(*best)) best = &answer.verdict;
  return *best;
}

}  // namespace

int runs_for(const store::Reliability& before) {
  if (before.n == 0 || before.k >= before.n) return kFewest;
  const double p =
      static_cast<double>(std::max<std::int64_t>(before.k, 1)) / static_cast<double>(before.n + 1);
  return std::max(kFewest, static_cast<int>(std::ceil(std::log(0.02) / std::log(1 - p))));
}

Recheck recheck(Evaluator& evaluator, std::span<const Oracle* const> oracles, const Plan& plan,
                const std::optional<Signature>& expected, const store::Reliability& before,
                std::int64_t passed) {
  const int enough = static_cast<int>(std::max<std::int64_t>(kFewest, runs_for(before) - passed));
  Recheck out;
  std::optional<Verdict> unjudged;
  for (int asked = 0; asked < std::min(enough, kMost) && out.failed.k == 0 && !unjudged;) {
    const int now = asked == 0 ? kFewest : std::min(enough, kMost) - asked;
    asked += now;
    std::vector<Question> questions;
    for (int i = 0; i < now; ++i)
      for (const auto* oracle : oracles) questions.push_back({oracle, plan});
    const auto answers = evaluator.ask(questions);
    for (const auto& answer : answers)
      for (const auto& o : answer.observations)
        out.device_seconds += static_cast<double>(o.wall_us) * 1e-6;
    for (auto run = std::span<const Answer>(answers); !run.empty();
         run = run.subspan(oracles.size())) {
      const Verdict& v = decisive(run.first(oracles.size()), expected);
      if (v.outcome != Outcome::pass && !v.failed()) {
        unjudged = v;
        continue;
      }
      ++out.failed.n;
      if (!v.failed()) continue;
      if (expected && !same_bug(v.signature, *expected)) {
        if (!out.other) out.other = v;
        continue;
      }
      ++out.failed.k;
      if (!out.failure) out.failure = v;
    }
  }
  if (out.failed.k > 0) {
    out.tonight = out.failed.k == out.failed.n ? Tonight::fails : Tonight::flaky;
  } else if (out.failed.n >= enough) {
    out.tonight = Tonight::passes;
  } else if (unjudged && out.failed.n == 0) {
    if (unjudged->outcome == Outcome::not_applicable) out.tonight = Tonight::not_applicable;
    out.harness_error = unjudged->outcome == Outcome::harness_error;
    out.reason = unjudged->reason;
  } else {
    out.reason = fmt::format("{} runs passed{}; to say that it is fixed takes {}", out.failed.n,
                             passed == 0 ? "" : fmt::format(", and {} in earlier nights", passed),
                             runs_for(before));
  }
  return out;
}

}  // namespace redzone::campaign
