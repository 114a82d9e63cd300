// Generates sequences of calls, because the order of calls is an input, too.
//
// A sequence consists of motifs, each of which starts from the previous call or from a fresh one: a
// single call, the same call again, one dim or one knob switched, growth, shrinkage, A-B-A, a burst
// of repeats, a walk of small changes, the same call with other data or in other layouts. Calls
// without a sync between them are in flight together. Some plans capture calls into a graph and
// replay it after calls of other shapes; some distribute calls over two streams; a few repeat a
// cheap call a thousand times.
#pragma once

#include "core/plan.h"
#include "generators/plan_generator.h"

namespace redzone::generators {

class CallMaker;
class Draw;

// Returns steps within `budget`, with at least one call. `launches`: the intended number of
// launches.
std::vector<Step> draw_schedule(Draw& draw, const CallMaker& calls, const Budget& budget,
                                std::int64_t launches);

}  // namespace redzone::generators
