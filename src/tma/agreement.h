// Compares the checker with the driver on the same descriptors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/error.h"
#include "tma/checker.h"

namespace redzone::tma {

// A descriptor on which the checker is wrong.
struct Disagreement {
  Descriptor found;
  Descriptor smallest;          // disagrees in the same way, and breaks no other rules
  bool driver_accepts = false;  // the driver's result; the checker's is the opposite
  // Rules that `smallest` breaks, in the order of the enumerators; without those that the driver
  // allows
  std::vector<Rule> rules;
  // Number of descriptors that disagree in the same way and break the same rules. If several causes
  // have the same rules, the first has the total and the others have 0.
  std::uint64_t descriptors = 0;
};

// For each rule: how often it was broken, and the driver's results if it was the only broken rule.
struct RuleCount {
  Rule rule{};
  std::uint64_t broken = 0, alone_accepted = 0, alone_rejected = 0;
};

struct Agreement {
  std::uint64_t descriptors = 0;
  std::uint64_t agreed = 0;
  std::uint64_t open = 0;             // broke only rules whose status is unknown
  std::uint64_t driver_accepted = 0;  // of all descriptors
  std::uint64_t disagreed = 0;
  std::vector<RuleCount> rules;             // all rules, in their order
  std::vector<Disagreement> disagreements;  // at most kMaxDisagreements different ones
  std::uint64_t not_reduced = 0;            // disagreements of kinds beyond kMaxDisagreements
  bool stopped = false;                     // ended early by `stop`
  double checker_s = 0, driver_s = 0;  // time in each, without the generation of the descriptors
};
inline constexpr std::size_t kMaxDisagreements = 64;

struct AgreementSetup {
  std::uint64_t count = 0;
  int compute_capability = 90;
  std::function<Descriptor()> next;
  // Returns a CUresult.
  std::function<int(const Descriptor&)> encode;
  // Returns a smaller descriptor for which the predicate holds; must terminate.
  std::function<Descriptor(const Descriptor&, const std::function<bool(const Descriptor&)>&)>
      reduce;
  std::function<bool()> stop;  // may be empty
};

// Returns a harness error if the driver returns anything but success or invalid value.
Result<Agreement> compare(const AgreementSetup& setup);

}  // namespace redzone::tma
