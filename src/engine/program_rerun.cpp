#include "engine/program_rerun.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "engine/program_findings.h"
#include "guard/stored_finding.h"

namespace redzone::engine {
namespace {

using Clock = std::chrono::steady_clock;

// /dev/null, for reading and writing.
class Nowhere {
 public:
  Nowhere() : fd_(::open("/dev/null", O_RDWR | O_CLOEXEC)) {}
  ~Nowhere() {
    if (fd_ >= 0) ::close(fd_);
  }
  Nowhere(const Nowhere&) = delete;
  Nowhere& operator=(const Nowhere&) = delete;
  int descriptor() const { return fd_; }

 private:
  int fd_;
};

std::optional<std::chrono::milliseconds> time_left(Clock::time_point until) {
  if (until == Clock::time_point::max()) return std::nullopt;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
  return std::max(left, std::chrono::milliseconds(1));
}

}  // namespace

Result<ProgramRerun> ProgramRerun::open(store::Store& store, Finding finding, bool trusted) {
  if (!finding.program)
    return usage_error(fmt::format("finding {} is of a target, not of a program", finding.id));
  if (finding.origin_merged && !trusted)
    return usage_error(fmt::format(
        "finding {} came from another store with a merge: 'redzone show {}' has the command, and "
        "--force runs it",
        finding.id, finding.id));
  if (finding.program->folder.empty())
    return usage_error(fmt::format(
        "finding {}: the folder in which it was run was gone, so it cannot be run again",
        finding.id));
  ProgramRerun out;
  RZ_TRY_ASSIGN(out.library_, guard::guard_library());
  RZ_TRY_ASSIGN(out.settings_, guard::settings_of(*finding.program));
  RZ_TRY_ASSIGN(const auto all, store.findings());
  for (const auto& each : all)
    if (is_waived(each.ledger.standing)) out.waived_.insert(each.signature.hash());
  out.finding_ = std::move(finding);
  return out;
}

Result<ProgramRerun::Run> ProgramRerun::run(const interpose::Settings& settings,
                                            Clock::time_point until, bool shows_output) const {
  const Nowhere nowhere;
  const int output = shows_output ? STDERR_FILENO : nowhere.descriptor();
  const auto begun = Clock::now();
  auto run = guard::run_guarded({.started = guard::started_of(*finding_.program),
                                 .library = library_,
                                 .settings = settings,
                                 .standard_output = output,
                                 .standard_error = output,
                                 .limit = time_left(until),
                                 .standard_input = nowhere.descriptor()});
  if (!run) return harness_error(fmt::format("finding {}: {}", finding_.id, run.error().why));
  auto verdict = guard::judge_run(*run, finding_.signature, finding_.program->exit_code, waived_);
  return Run{*std::move(run), std::move(verdict),
             std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begun)};
}

Result<std::optional<std::int64_t>> ProgramRerun::store_others(
    store::Store& store, const std::vector<guard::ProgramRun>& runs,
    const std::string& command) const {
  std::vector<guard::ProgramRun> others;
  for (const auto& run : runs) others.push_back(guard::without(run, finding_.signature));
  if (guard::joined_findings(others).empty()) return std::nullopt;
  RZ_TRY_ASSIGN(const auto stored, store_program_findings(store, others, command, 0));
  for (const auto& each : stored)
    if (each.id != 0 && !each.is_suppressed()) return each.id;
  return std::nullopt;
}

}  // namespace redzone::engine
