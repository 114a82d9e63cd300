// Plans for tests: those of a list, again and again.
#pragma once

#include <utility>
#include <vector>

#include "campaign/fakes.h"

namespace redzone::campaign::testing {

class ListedPlans final : public PlanSource {
 public:
  // `plans` must not be empty.
  explicit ListedPlans(std::vector<Plan> plans) : plans_(std::move(plans)) {}
  Plan next() override { return plans_[next_++ % plans_.size()]; }

 private:
  std::vector<Plan> plans_;
  std::size_t next_ = 0;
};

}  // namespace redzone::campaign::testing
