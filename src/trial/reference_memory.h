// Expected outputs of earlier calls. A reducer runs most calls of a plan repeatedly, and so do the
// trials of one plan: each worker computes their references only once.
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <vector>

#include "core/plan.h"

namespace redzone::trial {

// Expected values of each tensor of a call; empty for inputs.
using ExpectedOutputs = std::vector<std::vector<double>>;

class ReferenceMemory {
 public:
  // Above this many values the least recently used results are forgotten.
  explicit ReferenceMemory(std::size_t most_values) : most_values_(most_values) {}

  // Null if unknown. Valid until the next call of keep(). A reference depends on the dims, the
  // config and the data, which depend on seed and layout: therefore only an equal call matches.
  // `sampled`: outputs of some rows only.
  const ExpectedOutputs* find(const std::string& target, const Call& call, bool sampled);
  // Does nothing if the outputs alone exceed the limit.
  void keep(const std::string& target, const Call& call, bool sampled,
            const ExpectedOutputs& outputs);

 private:
  struct Entry {
    std::string target;
    Call call;
    bool sampled = false;
    ExpectedOutputs outputs;
    std::size_t values = 0;
  };
  std::list<Entry> entries_;  // most recently used first
  std::size_t most_values_, values_ = 0;
};

}  // namespace redzone::trial
