#include "campaign/case.h"

namespace redzone::campaign {

void note_other(Case& c, const Question& question, const Answer& answer,
                const Signature& looked_for) {
  if (c.other) return;
  const auto is_other = [&](const Verdict& v) {
    return v.failed() && is_direct(v.signature.kind) && !same_bug(v.signature, looked_for);
  };
  if (is_other(answer.verdict))
    c.other = Alarm{answer.verdict, question.plan};
  else if (answer.alarm && is_other(answer.alarm->verdict))
    c.other = answer.alarm;
}

// The finding may have been renamed to the signature of the other failure.
void drop_if_same(Case& c) {
  if (c.other && same_bug(c.other->verdict.signature, c.finding.signature)) c.other.reset();
}

}  // namespace redzone::campaign
