// Flags and output that are shared by the commands that run campaigns.
#pragma once

#include "campaign/campaign.h"
#include "cli/flags.h"

namespace redzone::cli {

// The value of a flag such as --plans; 0 if absent. An explicit 0 is a usage error.
Result<std::uint64_t> limit_flag(const po::variables_map& flags, const std::string& name);

// Prints progress to stderr: on a terminal one line that is rewritten, otherwise a line every ten
// seconds.
class ProgressPrinter {
 public:
  ProgressPrinter();
  void operator()(const campaign::Progress& progress);
  // Prints a line that is not overwritten.
  void found(const Finding& finding, double seconds);
  void merged(std::int64_t id, std::int64_t other);
  void end() const;

 private:
  bool terminal_;
  bool written_ = false;  // the last line will be overwritten
  double next_ = 10;
};

}  // namespace redzone::cli
