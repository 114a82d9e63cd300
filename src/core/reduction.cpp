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
      return "as many plans were tried as were allowed; something simpler may fail so";
    case ReductionEnd::time:
      return "the time was over; something simpler may fail so";
    case ReductionEnd::interrupted:
      return "something simpler may fail so";
    case ReductionEnd::taken_back:
      return "what was left did not fail again, so the plan is as it was confirmed";
    case ReductionEnd::not_judged:
      return "simpler plans could not be judged, and one of them may fail so";
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
