// The plans of one target in order. Plans that need preparation are generated ahead of their turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <string>

#include "campaign/plan_source.h"
#include "campaign/preparer.h"

namespace redzone::campaign {

class PlansAhead {
 public:
  // `preparer` (null: no preparation) outlives this object.
  PlansAhead(std::unique_ptr<PlanSource> source, const TargetSpec& spec, Preparer* preparer);

  // Generates one more plan unless `most` plans, or the prefetch depth, are ahead already. One plan
  // per call lets the targets take turns. Returns false if the source threw; no further plan is
  // generated until next() has rethrown the exception.
  bool make_one(std::uint64_t most);
  // True if next() need not wait for preparation.
  bool ready();
  // Returns the next plan, or rethrows what the source threw instead.
  Plan next();
  // See PlanSource.
  std::string out_of_reach() { return source_->out_of_reach(); }

 private:
  struct Made {
    Plan plan;
    std::exception_ptr problem;  // instead of a plan
    Preparer::Ticket ticket = 0;
    bool ready = false;
  };

  std::unique_ptr<PlanSource> source_;
  Preparer* preparer_;
  std::size_t depth_;
  std::deque<Made> ahead_;
};

}  // namespace redzone::campaign
