// The plans of one target in their order; where each has to be prepared, made ahead of their turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>

#include "campaign/plan_source.h"
#include "campaign/preparer.h"

namespace redzone::campaign {

class PlansAhead {
 public:
  // `preparer` (null: none) outlives this.
  PlansAhead(std::unique_ptr<PlanSource> source, const TargetSpec& spec, Preparer* preparer);

  // Makes one more plan unless as many are ahead as are worth it, or `most`: so those of several
  // targets are prepared in turns. False: the source threw, and none is made behind that until it
  // was told.
  bool make_one(std::uint64_t most);
  // Whether the next plan needs no waiting for.
  bool ready();
  // Throws what making it threw.
  Plan next();

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
