#include "cli/fuzzing.h"
#include "cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cli/flags.h"
#include "cli/interrupt.h"
#include "report/text.h"

namespace redzone::cli {

campaign::CampaignOptions campaign_options(const Session& session, std::chrono::milliseconds time,
                                           std::uint64_t plans_per_target) {
  campaign::CampaignOptions options;
  options.time = time;
  options.plans_per_target = plans_per_target;
  options.deadline = session.deadline();
  const bool gpu = session.device() == DeviceKind::cuda;
  options.worker_cost = std::chrono::milliseconds(gpu ? 300 : 10);
  // One worker at a time keeps a GPU busy; the processors of the host are the device there.
  options.screen_leaves_room = gpu;
  options.triage = session.triage_options();
  options.preparer = session.compilers();
  // A short campaign would rather show ten findings than one that is as small as it gets.
  if (options.time.count() > 0)
    options.triage.reduce_time =
        std::min(options.triage.reduce_time,
                 std::max<std::chrono::milliseconds>(options.time / 12, std::chrono::seconds(2)));
  options.stop = [] { return interrupted(); };
  return options;
}

void tell_unprepared(const Session& session) {
  if (!session.no_compilers().empty())
    print_note(fmt::format("no kernel was compiled ahead: {}", session.no_compilers()));
  if (session.compilers() == nullptr) return;
  const auto& failures = session.compilers()->failures();
  if (failures.plans > 0)
    print_note(fmt::format("compiled ahead in part or not at all: {} plans, the first for {}",
                           failures.plans, failures.why));
}

Result<std::uint64_t> plans_flag(const po::variables_map& flags) {
  if (flags.count("plans") == 0) return 0;
  const std::uint64_t plans = flags["plans"].as<Count>().value;
  if (plans == 0) return usage_error("--plans: must be at least 1");
  return plans;
}

ProgressPrinter::ProgressPrinter() : terminal_(isatty(STDERR_FILENO) != 0) {}

void ProgressPrinter::operator()(const campaign::Progress& p) {
  const auto& s = p.stats;
  report::Progress progress{s.seconds,      s.plans,          s.calls, s.suspects,
                            s.new_findings, s.known_findings, {},      {}};
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

void ProgressPrinter::end() const {
  if (written_) clear_line();
}

}  // namespace redzone::cli
