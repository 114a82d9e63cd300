// Expected outputs of earlier calls. A reducer runs most calls of a plan again and again, and so do
// the trials of one plan: their references are computed once in each worker.
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
  // The least recently used results are forgotten beyond this many values.
  explicit ReferenceMemory(std::size_t most_values) : most_values_(most_values) {}

  // Null if unknown. Valid until the next call of keep(). A reference sees the dims, the config and
  // the data, which depend on seed and layout: the calls must be equal. `sampled`: some rows only.
  const ExpectedOutputs* find(const std::string& target, const Call& call, bool sampled);
  // Does nothing if the outputs are larger than all that may be kept.
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
