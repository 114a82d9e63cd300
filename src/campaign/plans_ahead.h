// The plans of one target in order. Plans that need preparation are made ahead of their turn.
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
  // `preparer` (null: none) outlives this.
  PlansAhead(std::unique_ptr<PlanSource> source, const TargetSpec& spec, Preparer* preparer);

  // Makes one more plan unless `most`, or as many as are useful, are ahead. One plan per call lets
  // the targets take turns. False if the source threw; no further plan is made until next() has
  // rethrown the exception.
  bool make_one(std::uint64_t most);
  // True if next() need not wait for preparation.
  bool ready();
  // Rethrows what the source threw for this plan.
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
