#include "core/reduction.h"

#include <fmt/format.h>

namespace redzone {

namespace {

std::string_view meaning(ReductionEnd end) {
  switch (end) {
    case ReductionEnd::none:
      return "";
    case ReductionEnd::minimal:
      return "no plan that is simpler by one step fails the same way";
    case ReductionEnd::plans:
      return "the plan limit was reached; a simpler plan may fail the same way";
    case ReductionEnd::time:
      return "the time ran out; a simpler plan may fail the same way";
    case ReductionEnd::interrupted:
      return "a simpler plan may fail the same way";
    case ReductionEnd::taken_back:
      return "the reduced plan did not fail again, so the plan is the confirmed one";
    case ReductionEnd::not_judged:
      return "some simpler plans could not be judged and may fail the same way";
  }
  return "";
}

}  // namespace

std::string text_of(const Reduction& r) {
  if (r.end == ReductionEnd::none) return "";
  return fmt::format("{}: {}; {} plan{} tried in {} trial{}, {:.1f} s", name_of(r.end),
                     meaning(r.end), r.plans, r.plans == 1 ? "" : "s", r.trials,
                     r.trials == 1 ? "" : "s", r.seconds);
}

}  // namespace redzone
