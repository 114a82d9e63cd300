// A target whose calls return memory of their own, which holds outputs.
#pragma once

#include <redzone/target.h>

#include "trial/call_context.h"

namespace redzone::trial {

class CollectingTarget : public Target {
 public:
  // Copies what run() returned for this call and repeat into the call's outputs. For each run() in
  // their order, once all calls of a segment have been enqueued: what a later call did to a result
  // of an earlier one shows.
  virtual void collect(CallContext& ctx) = 0;
};

}  // namespace redzone::trial
