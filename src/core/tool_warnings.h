// Warnings of compute-sanitizer, or of a check of the device, over many trials. Warnings fail no
// plan, so a campaign only counts them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/trial.h"

namespace redzone {

struct ToolWarning {
  SanitizerTool tool = SanitizerTool::none;
  std::string what;           // "barrier divergence in half_at_barrier at selftest.cu:258"
  std::uint64_t reports = 0;  // number of trials with the warning

  bool operator==(const ToolWarning&) const = default;
};

class ToolWarnings {
 public:
  static constexpr std::size_t kMost = 8;  // different warnings that are counted separately

  // Adds the warnings of one trial. Warnings that differ only in call, thread, block or address are
  // equal.
  void add(const SanitizerReport& report);

  // In the order in which they were first seen.
  const std::vector<ToolWarning>& seen() const { return seen_; }
  // Trials with warnings beyond kMost different ones.
  std::uint64_t others() const { return others_; }

 private:
  std::vector<ToolWarning> seen_;
  std::uint64_t others_ = 0;
};

}  // namespace redzone
