// `redzone replay`: reruns a stored or hand-written plan, and reports that k of n runs failed.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <utility>

#include "campaign/recheck.h"
#include "campaign/run_judgement.h"
#include "cli/commands.h"
#include "cli/engine_flags.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/probing_flags.h"
#include "cli/program_commands.h"
#include "cli/selection_flags.h"
#include "core/log.h"
#include "core/names.h"
#include "core/plan_text.h"
#include "core/read_file.h"
#include "core/repro.h"
#include "engine/alarms.h"
#include "engine/rerun.h"
#include "report/format.h"
#include "report/json.h"
#include "report/text.h"

namespace redzone::cli {
namespace {

class Replay final : public Command {
 public:
  std::string_view name() const override { return "replay"; }
  std::string_view synopsis() const override { return "redzone replay ID|PLAN.toml [options]"; }
  std::string_view summary() const override {
    return "run a stored or hand-written plan, or the program of a finding, again; exit code 1 if "
           "it fails";
  }
  void declare(po::options_description& flags,
               po::positional_options_description& words) const override {
    flags.add_options()("what", po::value<std::string>()->required(),
                        "finding number, or a plan file")(
        "runs", po::value<Count>()->default_value({10}),
        "number of runs, each in a fresh worker (with --sanitizer: one, in one worker)")(
        "time", po::value<std::string>(), "time limit of all runs (default: none)")(
        "launch", po::value<std::string>(),
        "launch mode instead of the plan's: blocking, async or gated")(
        "placement", po::value<std::string>(),
        "placement instead of the plan's: guard_after or guard_before")(
        "alignment", po::value<std::string>(),
        "alignment instead of the plan's: promised, exact, element or mixed")(
        "callers", po::value<std::string>(),
        "host threads instead of the plan's: one makes all calls, or each step has its own (each)")(
        "addresses", po::value<std::string>(),
        "addresses of tensors instead of the plan's: distinct for each call, or reused")(
        "stack", po::value<std::string>(),
        "host's stack at each call instead of the plan's: as_left, filled or filled_finite")(
        "allocator", po::value<std::string>(),
        "allocator instead of the plan's: guard, plain, pool or caching")(
        "schedule-seed", po::value<Count>(), "seed of the schedule, instead of the plan's");
    words.add("what", 1);
    add_sanitizer_flag(flags);
    add_device_flag(flags);
    add_db_flag(flags);
    add_force_flag(flags);
    add_target_flags(flags);
    add_worker_flags(flags);
    add_json_flag(flags);
  }
  Result<int> run(const po::variables_map& flags, Results& out) override;
};

bool is_number(const std::string& word) {
  return !word.empty() && std::all_of(word.begin(), word.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

// The finding if it belongs to a program; nothing otherwise.
Result<std::optional<Finding>> program_finding(const po::variables_map& flags) {
  const auto& what = flags["what"].as<std::string>();
  if (!is_number(what)) return std::nullopt;
  RZ_TRY_ASSIGN(const auto id, parse_id(what));
  RZ_TRY_ASSIGN(auto finding, allowed_finding(id, flags));
  if (!finding.program) return std::nullopt;
  return finding;
}

struct Loaded {
  Repro repro;
  Environment found_in = {};  // for a finding: where it was recorded
};

Result<Loaded> load_subject(const po::variables_map& flags) {
  const auto& what = flags["what"].as<std::string>();
  if (!is_number(what)) {
    RZ_TRY_ASSIGN(auto text, read_file(what));
    RZ_TRY_ASSIGN(auto repro, parse_repro(text, what));
    RZ_TRY(check_allowed(repro.plan.target, flags));
    return Loaded{std::move(repro)};
  }
  RZ_TRY_ASSIGN(auto id, parse_id(what));
  RZ_TRY_ASSIGN(auto finding, allowed_finding(id, flags));
  const bool measured = finding.reliability.k > 0;
  return Loaded{{.plan = finding.plan,
                 .oracle = finding.oracle,
                 .signature = finding.signature,
                 .failed = measured ? std::optional(finding.reliability) : std::nullopt},
                finding.environment};
}

Result<void> override_mode(Mode& mode, const po::variables_map& flags) {
  RZ_TRY_ASSIGN(const auto launch, launch_flag(flags));
  if (launch) mode.launch = *launch;
  if (flags.count("placement") != 0) {
    RZ_TRY_ASSIGN(auto placement, parse_name<Placement>(flags["placement"].as<std::string>()));
    mode.placement = placement;
  }
  RZ_TRY_ASSIGN(const auto allocator, allocator_flag(flags));
  if (allocator && *allocator != mode.allocator) mode = with_allocator(mode, *allocator);
  if (flags.count("alignment") != 0) {
    RZ_TRY_ASSIGN(mode.alignment, parse_name<Alignment>(flags["alignment"].as<std::string>()));
  }
  if (flags.count("callers") != 0) {
    RZ_TRY_ASSIGN(mode.callers, parse_name<Callers>(flags["callers"].as<std::string>()));
  }
  if (flags.count("addresses") != 0) {
    RZ_TRY_ASSIGN(mode.addresses, parse_name<Addresses>(flags["addresses"].as<std::string>()));
  }
  if (flags.count("stack") != 0) {
    RZ_TRY_ASSIGN(mode.stack, parse_name<Stack>(flags["stack"].as<std::string>()));
  }
  if (flags.count("schedule-seed") != 0)
    mode.schedule_seed = flags["schedule-seed"].as<Count>().value;
  return {};
}

// `found_in`: where the failure was recorded; empty for a plan without a record.
report::ReplayRun as_run(const campaign::RunJudgement& judged, const campaign::Answer& answer,
                         const Environment& found_in) {
  report::ReplayRun run;
  run.verdict =
      judged.other && judged.result == RunResult::other ? judged.other->verdict : judged.verdict;
  run.result = judged.result;
  if (const std::string why = other_data_than(found_in);
      run.result == RunResult::pass && !why.empty()) {
    run.result = RunResult::not_judged;
    run.verdict.outcome = Outcome::inconclusive;
    run.verdict.reason = "it passes; " + why;
  }
  for (const auto& o : answer.observations) {
    if (o.end != End::completed) run.end = o.end;
    run.wall_us += o.wall_us;
    if (o.sanitizer) run.sanitizer = o.sanitizer;
  }
  return run;
}

int exit_code_of_replay(const report::ReplayResult& result) {
  if (interrupted()) return kInterrupted;
  std::vector<RunResult> runs;
  for (const auto& run : result.runs) runs.push_back(run.result);
  return exit_code_of(rank_runs(runs));
}

// Says how many runs would show that the failure is fixed, if all passed but they are too few.
void note_runs_needed(const Repro& repro, const report::ReplayResult& result) {
  const auto needed = campaign::passes_needed(repro.rate());
  if (repro.signature && exit_code_of_replay(result) == kOk &&
      std::cmp_less(result.runs.size(), needed))
    print_note(fmt::format("replay: {} passed; {} are needed to call it fixed",
                           report::counted(result.runs.size(), "run"), needed));
}

bool has_recorded(const report::ReplayResult& result) {
  return std::any_of(result.runs.begin(), result.runs.end(), [](const report::ReplayRun& run) {
    return run.result == RunResult::recorded;
  });
}

// Stores another failure than the recorded one; returns its finding. An error of the store does not
// change that the plan failed: it is told.
std::optional<std::int64_t> stored_as(const po::variables_map& flags, const engine::Site& site,
                                      campaign::Evaluator& evaluator, const campaign::Alarm& alarm,
                                      const TargetEntry& entry) {
  const auto stored = [&]() -> Result<std::int64_t> {
    RZ_TRY_ASSIGN(auto store, open_store(flags, store::OpenMode::read_write_create));
    RZ_TRY_ASSIGN(const auto as, engine::store_alarm(store, site, evaluator, alarm, entry));
    return as.id;
  }();
  if (stored) return *stored;
  print_note(fmt::format("replay: the other failure is not stored: {}", stored.error().message));
  return std::nullopt;
}

// Calls `run_once` with 0, 1, ..., `n` - 1, until the time or an interrupt ends it; at least once
// unless interrupted.
void run_repeatedly(std::uint64_t n, std::chrono::steady_clock::time_point until,
                    const std::function<void(std::uint64_t)>& run_once) {
  const bool terminal = isatty(STDERR_FILENO) != 0;
  const auto is_over = [&] { return std::chrono::steady_clock::now() >= until; };
  for (std::uint64_t i = 0; i < n && !interrupted() && (i == 0 || !is_over()); ++i) {
    if (terminal) rewrite_line(fmt::format("replay: run {} of {}", i + 1, n));
    run_once(i);
  }
  if (terminal) clear_line();
}

Result<int> Replay::run(const po::variables_map& flags, Results& out) {
  watch_interrupts();
  const bool sanitized = flags.count("sanitizer") != 0 && flags["runs"].defaulted();
  const auto n = sanitized ? 1 : flags["runs"].as<Count>().value;
  if (n < 1 || n > 10000) return usage_error("--runs: must be in 1..10000");
  RZ_TRY_ASSIGN(auto program, program_finding(flags));
  if (program) return replay_program(flags, out, *std::move(program));
  RZ_TRY_ASSIGN(const auto until, end_of_time(flags));
  RZ_TRY_ASSIGN(auto loaded, load_subject(flags));
  Repro* const repro = &loaded.repro;
  RZ_TRY(override_mode(repro->plan.mode, flags));
  RZ_TRY_ASSIGN(auto options, rerun_options(flags, loaded.found_in));
  const auto& what = flags["what"].as<std::string>();
  const std::string name = is_number(what) ? "finding " + what : what;
  engine::RecordedPlan recorded{.name = name, .oracle = repro->oracle, .found_in = loaded.found_in};
  if (repro->signature) recorded.kind = repro->signature->kind;
  RZ_TRY_ASSIGN(auto rerun, engine::open_rerun(options, recorded, repro->plan));
  if (!rerun.other_code.empty()) print_note(fmt::format("replay: {}", rerun.other_code));
  if (!rerun.not_judged.empty()) {
    print_note(fmt::format("not applicable: {}", rerun.not_judged));
    return kNotJudged;
  }
  engine::Engine& engine = *rerun.engine;
  const TargetSpec& spec = rerun.entry->spec;

  // With `--sanitizer` the tool decides: a report on another oracle's finding is a failure, but not
  // the recorded one. Without `--sanitizer`, the recorded failure determines the oracle; a plan
  // without a recorded failure is judged by all oracles.
  const SanitizerTool tool =
      options.sanitizer != SanitizerTool::none ? options.sanitizer : repro->plan.mode.sanitizer;
  const bool of_another_oracle = tool != SanitizerTool::none && repro->oracle != name_of(tool);
  const auto found = repro->signature;
  if (of_another_oracle) repro->signature.reset();
  const auto oracles = engine.site().oracles_for(repro->plan, spec, repro->oracle, tool);
  if (!oracles) return usage_error(fmt::format("{}: {}", name, oracles.error().message));
  campaign::Evaluator evaluator(engine.executor(), spec, engine.deadline());
  report::ReplayResult result;
  result.subject = name;
  result.expected = repro->signature;
  std::optional<campaign::Alarm> other;
  const auto run_once = [&](std::uint64_t i) {
    auto run = std::move(
        campaign::ask_runs(evaluator, *oracles, repro->plan, repro->signature, 1).front());
    auto& judged = run.judgement;
    if (interrupted() && judged.result == RunResult::harness_error) return;  // it was cut off
    if (of_another_oracle)
      judged = campaign::judge_by_tool(repro->plan, run.answers.front(), found);
    result.runs.push_back(as_run(judged, run.answers[judged.answer], loaded.found_in));
    log::info("replay of {}: run {} of {}: {}", name, i + 1, n, name_of(judged.result));
    if (judged.other && !other) other = std::move(judged.other);
  };
  run_repeatedly(n, until, run_once);
  if (other && campaign::is_own_alarm(other->verdict, has_recorded(result)))
    result.other_finding = stored_as(flags, engine.site(), evaluator, *other, *rerun.entry);
  note_runs_needed(*repro, result);
  out.print(json_wanted(flags) ? report::replay_json(result) : report::replay_text(result));
  const int code = exit_code_of_replay(result);
  if (const auto why = engine.site().cannot_refute(recorded); why && code == kOk) {
    print_note(fmt::format("not judged: {}: {}", name, *why));
    return kNotJudged;
  }
  return code;
}

}  // namespace

std::unique_ptr<Command> make_replay() {
  return std::make_unique<Replay>();
}

}  // namespace redzone::cli
