// How the reduction of a failing plan ended, and its cost.
#pragma once

#include <cstdint>
#include <string>

#include "core/enum_names.h"

namespace redzone {

enum class ReductionEnd : std::uint8_t {
  none,         // not reduced yet, or by a version that did not record it
  minimal,      // 1-minimal: no plan that is simpler by one step fails the same way, with either
                // placement of its buffers, its own data seeds or seeds 1 to 3
  plans,        // the limit of tried plans was reached
  time,         // the time limit was reached
  interrupted,  // stopped by the user
  taken_back,   // the reduced plan did not fail again; the plan is the confirmed one
  not_judged,   // no simpler plan was seen to fail the same way, but some could not be judged
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

// "1-minimal: no plan that is simpler by one step fails the same way; 84 plans tried in 160 trials,
// 0.6 s"; "" if not reduced.
std::string text_of(const Reduction& reduction);

}  // namespace redzone
