// Runs the program of a finding again, and reports that k of n runs failed.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "cli/guard_flags.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/probing_flags.h"
#include "cli/program_commands.h"
#include "cli/verbosity.h"
#include "core/log.h"
#include "core/names.h"
#include "core/repro.h"
#include "engine/program_rerun.h"
#include "guard/program_files.h"
#include "guard/script.h"
#include "guard/stored_finding.h"
#include "report/json.h"
#include "report/text.h"

namespace redzone::cli {
namespace {

report::ReplayRun run_of(const engine::ProgramRerun::Run& ran) {
  report::ReplayRun out;
  out.verdict = ran.verdict.verdict;
  out.result = ran.verdict.result;
  out.wall_us = static_cast<std::uint64_t>(ran.wall.count());
  if (ran.run.ended.over_time) out.end = End::hang;
  return out;
}

}  // namespace

void report_changed_files(const ProgramOrigin& origin) {
  for (const auto& path : guard::changed_files(origin.files))
    print_note(fmt::format("the program has changed since: {}", path));
}

Result<int> replay_program(const po::variables_map& flags, Results& out, Finding finding) {
  RZ_TRY(only_flags_of_programs(flags, {"launch", "allocator", "schedule-seed", "sanitizer"}));
  RZ_TRY_ASSIGN(const auto until, end_of_time(flags));
  RZ_TRY_ASSIGN(auto store, open_store(flags, store::OpenMode::read_only));
  RZ_TRY_ASSIGN(const auto rerun,
                engine::ProgramRerun::open(store, std::move(finding), flags["force"].as<bool>()));
  auto settings = rerun.settings();
  if (flags.count("placement") != 0) {
    RZ_TRY_ASSIGN(settings.placement, guard_placement(flags));
  }
  const std::int64_t id = rerun.finding().id;
  report::ReplayResult result;
  result.subject = fmt::format("finding {}", id);
  result.expected = rerun.finding().signature;
  std::vector<guard::ProgramRun> runs;
  const auto n = flags["runs"].as<Count>().value;
  const bool shows_output = verbosity_of(flags) >= log::Level::info;
  report_changed_files(*rerun.finding().program);
  Result<void> problem;  // error of a later run; the results of earlier runs are reported
  bool stopped = false;
  for (std::uint64_t i = 0;
       i < n && !interrupted() && (i == 0 || std::chrono::steady_clock::now() < until); ++i) {
    auto ran = rerun.run(settings, until, shows_output);
    if (!ran) problem = tl::unexpected(ran.error());
    stopped = ran && ran->run.ended.passed_on != 0;
    if (!problem || stopped) break;
    result.runs.push_back(run_of(*ran));
    log::info("replay of finding {}: run {} of {}: {}", id, i + 1, n, name_of(ran->verdict.result));
    runs.push_back(std::move(ran->run));
  }
  if (!problem && runs.empty()) return tl::unexpected(problem.error());
  stopped = stopped || interrupted();
  if (stopped && runs.empty()) return kInterrupted;
  std::vector<RunResult> results;
  for (const auto& run : result.runs) results.push_back(run.result);
  const bool other = std::find(results.begin(), results.end(), RunResult::other) != results.end();
  Result<void> stored;
  if (other) {
    const auto first =
        open_store(flags, store::OpenMode::read_write_create).and_then([&](store::Store s) {
          return rerun.store_others(s, runs, fmt::format("redzone replay {}", id));
        });
    if (first)
      result.other_finding = *first;
    else
      stored = tl::unexpected(first.error());
  }
  const int code = stopped ? static_cast<int>(kInterrupted) : exit_code_of(rank_runs(results));
  out.print(json_wanted(flags) ? report::replay_json(result) : report::replay_text(result));
  if (!stored) return tl::unexpected(stored.error());
  if (!problem && code == kOk) return tl::unexpected(problem.error());
  if (!problem) print_note("replay: " + problem.error().message);
  return code;
}

Result<std::string> program_script(const Finding& finding) {
  RZ_TRY_ASSIGN(const auto settings, guard::settings_of(*finding.program));
  return guard::script_of(finding, words_of(settings));
}

}  // namespace redzone::cli
