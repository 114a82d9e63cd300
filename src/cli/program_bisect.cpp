// Finds the settings of the guard on which a finding of a program depends.
#include <fmt/format.h>

#include <algorithm>

#include "cli/flags.h"
#include "cli/guard_flags.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/probing_flags.h"
#include "cli/program_commands.h"
#include "cli/verbosity.h"
#include "core/device_traits.h"
#include "core/log.h"
#include "engine/program_rerun.h"
#include "guard/variations.h"
#include "report/program_bisect.h"

namespace redzone::cli {
namespace {

// Runs the program with changed settings, and counts the results.
class Runs {
 public:
  Runs(const engine::ProgramRerun& rerun, std::chrono::steady_clock::time_point until, bool shows)
      : rerun_(rerun), until_(until), shows_output_(shows) {}

  bisect::Counts make(const interpose::Settings& settings, std::int64_t times) {
    bisect::Counts out;
    for (std::int64_t i = 0; i < times; ++i) {
      if (!problem_ || stopped_ || interrupted() || std::chrono::steady_clock::now() >= until_)
        break;
      auto ran = rerun_.run(settings, until_, shows_output_);
      if (!ran) {
        problem_ = tl::unexpected(ran.error());
        break;
      }
      if (ran->run.ended.passed_on != 0) stopped_ = true;
      // A run that the time limit has cut off proves nothing about these settings.
      if (ran->run.ended.over_time || stopped_) break;
      add(out, *ran, settings == rerun_.settings());
    }
    return out;
  }
  bool ended() const { return !problem_ || stopped_; }
  bool stopped() const { return stopped_; }
  const Result<void>& problem() const { return problem_; }
  std::uint64_t most_blocks() const { return most_blocks_; }
  std::vector<guard::ProgramRun>& others() { return others_; }

 private:
  // Under other settings the same mistake may show as another finding, which must not be counted as
  // a separate one.
  void add(bisect::Counts& out, engine::ProgramRerun::Run& ran, bool as_recorded) {
    for (const auto& process : ran.run.processes)
      most_blocks_ = std::max(most_blocks_, process.count(guard::Counter::device_blocks) +
                                                process.count(guard::Counter::host_blocks) +
                                                process.count(guard::Counter::left_out_chosen));
    switch (ran.verdict.result) {
      case RunResult::recorded:
        ++out.same;
        break;
      case RunResult::other:
        ++out.other;
        out.said = ran.verdict.verdict.reason;
        if (as_recorded) others_.push_back(std::move(ran.run));
        break;
      case RunResult::pass:
        ++out.passed;
        break;
      case RunResult::harness_error:
      case RunResult::not_judged:
        ++out.unjudged;
        out.said = ran.verdict.verdict.reason;
        break;
    }
  }

  const engine::ProgramRerun& rerun_;
  std::chrono::steady_clock::time_point until_;
  bool shows_output_;
  bool stopped_ = false;
  Result<void> problem_;
  std::uint64_t most_blocks_ = 0;
  std::vector<guard::ProgramRun> others_;
};

std::vector<bisect::Choice> choices_of(const std::vector<guard::VariedSetting>& varied) {
  std::vector<bisect::Choice> out;
  for (const auto& setting : varied) {
    bisect::Choice& choice = out.emplace_back(bisect::Choice{setting.name, setting.value, {}});
    for (const auto& other : setting.others) choice.others.push_back(other.text);
  }
  return out;
}

}  // namespace

Result<int> bisect_program(const po::variables_map& flags, Results& out, Finding finding) {
  RZ_TRY(only_flags_of_programs(flags, {"passing", "dim", "call", "builds"}));
  RZ_TRY_ASSIGN(const auto until, end_of_time(flags));
  RZ_TRY_ASSIGN(auto store, open_store(flags, store::OpenMode::read_only));
  RZ_TRY_ASSIGN(const auto rerun,
                engine::ProgramRerun::open(store, std::move(finding), flags["force"].as<bool>()));
  const ProgramOrigin& origin = *rerun.finding().program;
  const bool on_device =
      !traits_of_device(rerun.finding().environment.device).execution.in_host_memory;
  const auto varied = guard::variations_of(rerun.settings(), origin, on_device);
  report_changed_files(origin);
  Runs runs(rerun, until, verbosity_of(flags) >= log::Level::info);
  bisect::ProbeBudget budget;
  budget.until = until;
  budget.stop = [&] { return runs.ended() || interrupted(); };
  const auto with = [&](std::span<const bisect::Changed> changes) {
    std::vector<const guard::Variation*> chosen;
    for (const auto& each : changes) chosen.push_back(&varied[each.choice].others[each.other]);
    return guard::with_changes(rerun.settings(), chosen);
  };
  report::ProgramBisection result;
  result.settings = bisect::bisect_choices(
      choices_of(varied),
      [&](std::span<const bisect::Changed> changes, std::int64_t times) {
        return runs.make(with(changes), times);
      },
      budget);
  // The block of a device error is unknown; guarding fewer blocks finds it.
  if (result.settings.base.answer == bisect::Answer::fails && origin.block == 0 &&
      rerun.settings().only.is_empty() && runs.most_blocks() > 0)
    result.blocks = bisect::narrowed(
        runs.most_blocks(), result.settings.base.counts,
        [&](std::uint64_t first, std::uint64_t last, std::int64_t times) {
          auto settings = rerun.settings();
          settings.only = {first, last};
          return runs.make(settings, times);
        },
        budget);
  if (budget.stop() || std::chrono::steady_clock::now() >= until) result.settings.complete = false;
  RZ_TRY(runs.problem());
  out.print(json_wanted(flags) ? report::program_bisection_json(rerun.finding(), result)
                               : report::program_bisection_text(rerun.finding(), result));
  if (!runs.others().empty()) {
    RZ_TRY_ASSIGN(auto writable, open_store(flags, store::OpenMode::read_write_create));
    RZ_TRY_ASSIGN(const auto other,
                  rerun.store_others(writable, runs.others(),
                                     fmt::format("redzone bisect {}", rerun.finding().id)));
    if (other)
      print_note(fmt::format("it also fails in another way, stored as finding {}", *other));
  }
  if (runs.stopped() || interrupted()) return kInterrupted;
  return exit_code_of(result.settings.base.counts.result());
}

}  // namespace redzone::cli
