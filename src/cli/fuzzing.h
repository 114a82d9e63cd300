// What the commands that run campaigns share.
#pragma once

#include "campaign/campaign.h"
#include "cli/flags.h"

namespace redzone::cli {

// --plans; 0 when it is absent. A usage error when it is given as 0.
Result<std::uint64_t> plans_flag(const po::variables_map& flags);

// On stderr: a line that rewrites itself on a terminal; every ten seconds a plain one in a log.
class ProgressPrinter {
 public:
  ProgressPrinter();
  void operator()(const campaign::Progress& progress);
  // A line that stays.
  void found(const Finding& finding, double seconds);
  void end() const;

 private:
  bool terminal_;
  bool written_ = false;  // the last line is one that rewrites itself
  double next_ = 10;
};

}  // namespace redzone::cli
