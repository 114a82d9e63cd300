// How the reduction of a failing plan ended, and what it took.
#pragma once

#include <cstdint>
#include <string>

#include "core/enum_names.h"

namespace redzone {

enum class ReductionEnd : std::uint8_t {
  none,     // it was not reduced yet, or by a version that did not say
  minimal,  // 1-minimal: no plan that is simpler by one step fails so, in either placement of its
            // buffers and with its own data seeds or those from 1 to 3
  plans,    // as many plans were tried as were allowed
  time,     // the time was over
  interrupted,  // somebody stopped it
  taken_back,   // what was left did not fail again, so the plan is as it was confirmed
  not_judged,   // nothing simpler by one step was seen to fail so, but some could not be judged
};

constexpr auto enum_table(ReductionEnd) {
  return enum_names<ReductionEnd>("end of a reduction",
                                  {{ReductionEnd::none, "none"},
                                   {ReductionEnd::minimal, "1-minimal"},
                                   {ReductionEnd::plans, "budget of plans"},
                                   {ReductionEnd::time, "budget of time"},
                                   {ReductionEnd::interrupted, "interrupted"},
                                   {ReductionEnd::taken_back, "taken back"},
                                   {ReductionEnd::not_judged, "not all judged"}});
}

struct Reduction {
  ReductionEnd end = ReductionEnd::none;
  std::int64_t plans = 0;   // simpler plans that were tried
  std::int64_t trials = 0;  // run for them
  double seconds = 0;

  bool operator==(const Reduction&) const = default;
};

// "1-minimal: nothing that is simpler by one step fails so; 84 plans tried in 160 trials, 0.6 s";
// "" where nothing is known.
std::string text_of(const Reduction& reduction);

}  // namespace redzone
