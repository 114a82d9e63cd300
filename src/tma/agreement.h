// Checker and driver asked about the same descriptors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/error.h"
#include "tma/checker.h"

namespace redzone::tma {

// A descriptor about which the checker is wrong.
struct Disagreement {
  Descriptor found;
  Descriptor smallest;          // disagrees in the same way, breaking no other rules
  bool driver_accepts = false;  // the driver; the checker says the opposite
  std::vector<Rule> rules;      // that `smallest` breaks by the driver's rules, in their order
  // Those that disagree in the same way and break the same rules; of several causes with the same
  // rules the first has the count of all, the others 0.
  std::uint64_t descriptors = 0;
};

// Of each rule: how often it was broken, and what the driver said where no other was.
struct RuleCount {
  Rule rule{};
  std::uint64_t broken = 0, alone_accepted = 0, alone_rejected = 0;
};

struct Agreement {
  std::uint64_t descriptors = 0;
  std::uint64_t agreed = 0;
  std::uint64_t open = 0;             // only rules broken of which it was not known
  std::uint64_t driver_accepted = 0;  // of all
  std::uint64_t disagreed = 0;
  std::vector<RuleCount> rules;             // all, in their order
  std::vector<Disagreement> disagreements;  // at most kMaxDisagreements different ones
  std::uint64_t not_reduced = 0;       // disagreed, and of a kind for which there was no more room
  bool stopped = false;                // by `stop`, before the last
  double checker_s = 0, driver_s = 0;  // time in each, without making the descriptors
};
inline constexpr std::size_t kMaxDisagreements = 64;

struct AgreementSetup {
  std::uint64_t count = 0;
  int compute_capability = 90;
  std::function<Descriptor()> next;
  // A CUresult.
  std::function<int(const Descriptor&)> encode;
  // A smaller descriptor of which the predicate holds; must end.
  std::function<Descriptor(const Descriptor&, const std::function<bool(const Descriptor&)>&)>
      reduce;
  std::function<bool()> stop;  // may be empty
};

// A harness error when the driver answers with anything but success or invalid value.
Result<Agreement> compare(const AgreementSetup& setup);

}  // namespace redzone::tma
