// A target whose calls return their outputs in memory that the target allocated.
#pragma once

#include <redzone/target.h>

#include "trial/call_context.h"

namespace redzone::trial {

class CollectingTarget : public Target {
 public:
  // Copies the result of run() for this call and repeat into the call's outputs. Called once per
  // run(), in the same order, after all calls of a segment have been enqueued: if a later call
  // changed the result of an earlier one, the copy shows it.
  virtual void collect(CallContext& ctx) = 0;
};

}  // namespace redzone::trial
