// Plans for tests: one call, with a different size each time.
#pragma once

#include <string>
#include <utility>

#include "campaign/fakes.h"

namespace redzone::campaign::testing {

class CountedPlans final : public PlanSource {
 public:
  // Sizes `first` + 1, `first` + 2, ..., 1024, then from 1 again.
  explicit CountedPlans(std::string target, std::int64_t first = 0)
      : target_(std::move(target)), n_(first) {}
  Plan next() override {
    Plan plan = plain_plan({call_of(n_++ % 1024 + 1, 16)});
    plan.target = target_;
    return plan;
  }

 private:
  std::string target_;
  std::int64_t n_;
};

}  // namespace redzone::campaign::testing
