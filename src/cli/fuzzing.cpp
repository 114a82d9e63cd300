#include "cli/fuzzing.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "cli/output.h"
#include "report/text.h"

namespace redzone::cli {

Result<std::uint64_t> limit_flag(const po::variables_map& flags, const std::string& name) {
  if (flags.count(name) == 0) return 0;
  const std::uint64_t limit = flags[name].as<Count>().value;
  if (limit == 0) return usage_error(fmt::format("--{}: must be at least 1", name));
  return limit;
}

ProgressPrinter::ProgressPrinter() : terminal_(isatty(STDERR_FILENO) != 0) {}

void ProgressPrinter::operator()(const campaign::Progress& p) {
  const auto& s = p.stats;
  report::Progress progress{.seconds = s.seconds,
                            .plans = s.plans,
                            .calls = s.calls,
                            .suspects = s.suspects,
                            .new_findings = s.new_findings,
                            .known_findings = s.known_findings,
                            .seconds_left = {},
                            .plans_left = {}};
  if (p.seconds_left >= 0) progress.seconds_left = p.seconds_left;
  if (p.plans_left) progress.plans_left = p.plans_left;
  if (terminal_) {
    rewrite_line(report::progress_line(progress));
    written_ = true;
  } else if (s.seconds >= next_) {
    print_note(report::progress_log(progress));
    next_ = s.seconds + 10;
  }
}

void ProgressPrinter::found(const Finding& finding, double seconds) {
  if (std::exchange(written_, false)) clear_line();
  print_note(report::found_line(finding, seconds));
}

void ProgressPrinter::merged(std::int64_t id, std::int64_t other) {
  if (std::exchange(written_, false)) clear_line();
  print_note(
      fmt::format("finding {} is the same bug as finding {}, and is kept as that", id, other));
}

void ProgressPrinter::end() const {
  if (written_) clear_line();
}

}  // namespace redzone::cli
