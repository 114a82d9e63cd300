// `redzone guard`: runs any program with its allocations between guard pages.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <utility>

#include "cli/commands.h"
#include "cli/guard_flags.h"
#include "cli/output.h"
#include "cli/verbosity.h"
#include "core/names.h"
#include "core/preload.h"
#include "core/terminal.h"
#include "engine/program_findings.h"
#include "engine/tools.h"
#include "guard/guarded_run.h"
#include "guard/narrow.h"
#include "guard/script.h"
#include "report/guard.h"

namespace redzone::cli {
namespace {

constexpr std::uint64_t kMostExitCode = 255;
constexpr std::uint64_t kMostRuns = 1000;

class Guard final : public Command {
 public:
  std::string_view name() const override { return "guard"; }
  std::string_view synopsis() const override {
    return "redzone guard [options] -- CMD [ARG...]\n"
           "redzone guard --attach FOLDER [options]\n"
           "redzone guard --collect FOLDER [options]";
  }
  std::string_view summary() const override {
    return "run a program with its allocations between guard pages; exit code: 1 for a finding, "
           "125 if the program could not be guarded, else the program's own";
  }
  void declare(po::options_description& flags,
               po::positional_options_description& words) const override;
  Result<int> run(const po::variables_map& flags, Results& out) override;
  int exit_code_of(ErrorKind) const override { return guard::kCannotGuard; }
};

void Guard::declare(po::options_description& flags,
                    po::positional_options_description& words) const {
  flags.add_options()("command", po::value<std::vector<std::string>>(),
                      "the program and its arguments");
  add_guard_settings_flags(flags);
  flags.add_options()("runs", po::value<Count>()->default_value(Count{1}),
                      "runs of the program; from the second on, placement, poison and retirement "
                      "vary unless they are given, and so does what --launch held stops")(
      "time", po::value<std::string>(),
      "time limit of each run (default: none): a program that takes longer is ended, and the exit "
      "code is 124 if there is no finding")(
      "narrow", po::bool_switch(),
      "run the program again, for at most ten times as long and five seconds, for what names the "
      "kernel behind a canary (--check each-launch) or an error of a device (--launch blocking, "
      "and "
      "its core dump where cuda-gdb can read it); the first report comes before that")(
      "framework", po::value<std::string>()->default_value("none"),
      "none, torch-pluggable, torch-nocache, jax-platform, cupy or auto: what is done to a "
      "framework, so that each of its buffers is a block; auto: to a Python program all but "
      "torch-nocache")(
      "core-dump", po::bool_switch(),
      "let the driver write a core dump at an error of a kernel, which cuda-gdb reads; with it the "
      "driver may miss a write out of bounds")("error-exitcode",
                                               po::value<Count>()->default_value(Count{1}),
                                               "exit code for a finding, 1 to 255")(
      "output", po::value<std::string>(),
      "file for the report (default: standard error, with --json standard output)")(
      "no-store", po::bool_switch(),
      "store no finding; those that the store has as known are suppressed all the same")(
      "env", po::value<std::vector<std::string>>()->composing(),
      "environment variable to store with a finding besides those that always are; repeatable")(
      "attach", po::value<std::string>(),
      "create a folder for records, and print the two variables that guard any process")(
      "collect", po::value<std::string>(), "report what attached processes have recorded there");
  words.add("command", -1);
  add_db_flag(flags);
  add_json_flag(flags);
}

// Writes in place, because the file may be mounted, or in a folder that is not writable.
Result<void> write_report(const std::string& file, const std::string& text) {
  errno = 0;
  std::ofstream out(file);
  out << text << std::flush;
  if (!out)
    return harness_error(fmt::format("guard: --output: {}: cannot be written: {}", file,
                                     errno == 0 ? "unknown error" : std::strerror(errno)));
  return {};
}

Result<std::vector<std::string>> stored_variables(const po::variables_map& flags) {
  if (flags.count("env") == 0) return std::vector<std::string>{};
  auto out = flags["env"].as<std::vector<std::string>>();
  for (const auto& name : out)
    if (!is_variable_name(name) || name == kPreloadVariable)
      return usage_error(fmt::format("guard: --env: '{}': {}", name,
                                     name == kPreloadVariable
                                         ? "it is never stored"
                                         : "no name of a variable that a shell knows"));
  return out;
}

bool is_given(const po::variables_map& flags, const char* name) {
  return flags.count(name) != 0 && !flags[name].defaulted();
}

// Rejects flags that have no effect: all given flags except `with_effect`. So a new flag is
// rejected until it is listed as having an effect.
Result<void> only_flags_of(const po::variables_map& flags, const char* mode,
                           std::set<std::string> with_effect) {
  with_effect.insert({mode, "verbose"});
  for (const auto& [name, value] : flags)
    if (is_given(flags, name.c_str()) && !with_effect.contains(name))
      return usage_error(fmt::format("guard: --{} has no effect with --{}", name, mode));
  return {};
}

// The flags that --attach uses: the settings of the attached processes, and --framework.
std::set<std::string> flags_of_attach() {
  po::options_description settings;
  add_guard_settings_flags(settings);
  std::set<std::string> out{"framework"};
  for (const auto& option : settings.options()) out.insert(option->long_name());
  return out;
}

std::string command_line(const po::variables_map& flags) {
  std::string out = "redzone guard";
  if (const std::string given = given_flags(flags, "command"); !given.empty()) out += " " + given;
  if (flags.count("command") == 0) return out;
  return out + " -- " + shell_quoted(flags["command"].as<std::vector<std::string>>());
}

// Stores the findings unless --no-store is given, and returns what the store has about them. A
// store that cannot be used must not prevent the report.
report::GuardStored stored_findings(const po::variables_map& flags,
                                    std::span<const guard::ProgramRun> runs) {
  report::GuardStored out;
  out.db = db_for_commands(flags);
  out.runs = runs;
  if (guard::joined_findings(runs).empty()) return out;
  const bool writes = !flags["no-store"].as<bool>();
  std::error_code error;
  if (!writes && !std::filesystem::exists(flags["db"].as<std::string>(), error)) return out;
  auto known =
      open_store(flags, writes ? store::OpenMode::read_write_create : store::OpenMode::read_only)
          .and_then([&](store::Store store) {
            return writes ? engine::store_program_findings(store, runs, command_line(flags),
                                                           flags["seed"].as<Count>().value)
                          : engine::known_program_findings(store, runs);
          });
  if (known)
    out.known = *std::move(known);
  else
    out.problem = known.error().message;
  return out;
}

report::Notes notes_of(const po::variables_map& flags) {
  return verbosity_of(flags) >= log::Level::info ? report::Notes::all : report::Notes::telling;
}

// Writes the report to the file of --output; without --output, to standard error, or as JSON to
// standard output. A report that cannot be written to its file goes to standard error.
void deliver(const po::variables_map& flags, Results& out, const std::string& text) {
  if (flags.count("output") != 0) {
    // A full disk must lose neither the report nor the exit code.
    const auto written = write_report(flags["output"].as<std::string>(), text);
    if (!written) print_note(fmt::format("{}redzone {}", text, written.error().message));
  } else if (json_wanted(flags)) {
    out.print(text);
  } else {
    print_note(text);
  }
}

Result<int> report_runs(const po::variables_map& flags, Results& out,
                        std::span<const guard::ProgramRun> runs) {
  const auto finding_code = static_cast<int>(flags["error-exitcode"].as<Count>().value);
  const report::GuardStored stored = stored_findings(flags, runs);
  const guard::ProgramRun run = guard::joined(runs);
  const int code = run.exit_code(finding_code, guard::suppressed(stored.known));
  deliver(flags, out,
          json_wanted(flags) ? report::guard_json(run, code, stored)
                             : report::guard_text(run, code, notes_of(flags), stored));
  return code;
}

bool has_control_byte(const std::string& text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

Result<guard::Framework> framework_of(const po::variables_map& flags) {
  return parse_name<guard::Framework>(flags["framework"].as<std::string>());
}

Result<int> attach(const po::variables_map& flags, Results& out) {
  RZ_TRY(only_flags_of(flags, "attach", flags_of_attach()));
  RZ_TRY_ASSIGN(auto settings, guard_settings(flags));
  if (is_given(flags, "seed") && settings.launch != interpose::LaunchMode::held)
    return usage_error("guard: --seed has no effect with --attach, but for --launch held");
  RZ_TRY_ASSIGN(const auto framework, framework_of(flags));
  RZ_TRY_ASSIGN(const auto library, guard::guard_library());
  // The program is unknown, so `auto` treats it as a Python program.
  constexpr const char* program = "python3";
  settings.hooks = guard::hooks_for(framework, program);
  std::error_code error;
  const auto folder = std::filesystem::absolute(flags["attach"].as<std::string>(), error);
  if (has_control_byte(folder.string()))
    return usage_error("guard: --attach: the name of the folder has a control character");
  RZ_TRY(guard::prepare_folder(folder, settings));
  RZ_TRY_ASSIGN(const auto preloaded, preload_name(library, folder));
  const std::string before = guard::foreign_preload({});
  out.print(fmt::format("export LD_PRELOAD={}\nexport {}={}\n",
                        guard::sh_word(preload_before(preloaded, before)),
                        interpose::kFolderVariable, guard::sh_word(folder.string())));
  for (const auto& prepared : {guard::prepare(framework, program),
                               guard::prepare_hooks(settings.hooks, guard::hooks_folder(library),
                                                    guard::variable_of({}, "PYTHONPATH"))})
    for (const auto& [name, value] : prepared.environment)
      out.print(fmt::format("export {}={}\n", name, guard::sh_word(value)));
  return kOk;
}

// Reports the known results before a further run, which could lose them. JSON on standard output
// describes all runs together, so this report is text there.
void report_before_narrowing(const po::variables_map& flags, const guard::ProgramRun& run) {
  const int code = run.exit_code(static_cast<int>(flags["error-exitcode"].as<Count>().value));
  const std::string text = report::guard_text(run, code, notes_of(flags));
  if (flags.count("output") == 0) return print_note(text);
  const std::string first = json_wanted(flags) ? report::guard_json(run, code) : text;
  if (!write_report(flags["output"].as<std::string>(), first)) print_note(text);
}

// Identifies the launches behind findings by further runs, until a run has identified one. With
// core dumps the driver misses some errors, so if that run identifies none, a run without core
// dumps follows.
void narrow(const po::variables_map& flags, guard::RunRequest request,
            std::chrono::milliseconds first_took, guard::ProgramRun& run) {
  constexpr int kTimes = 10;
  constexpr std::chrono::milliseconds kLeast{5000};
  const auto wanted = guard::narrowing_of(run);
  if (wanted == guard::Narrowing::none || run.ended.passed_on != 0) return;
  report_before_narrowing(flags, run);
  const bool of_error = wanted == guard::Narrowing::error;
  const auto most = std::max(kTimes * first_took, kLeast);
  request.limit = std::min(request.limit.value_or(most), most);
  request.standard_output = request.standard_error;  // standard output is reserved for the
                                                     // program's first run
  request.settings = run.settings;
  request.settings.launch = interpose::LaunchMode::blocking;
  if (!of_error) request.settings.check = interpose::Check::each_launch;
  std::size_t narrowed = 0;
  bool over = false;
  for (const bool dumps : {true, false}) {
    if (over || narrowed != 0 || (dumps && (!of_error || request.cuda_gdb.empty()))) continue;
    request.dumps = dumps;
    print_note(fmt::format("redzone: guard: the program runs again, {}{}, for at most {} s",
                           of_error ? "waiting for each launch" : "with a check after each launch",
                           dumps ? ", with core dumps" : "", request.limit->count() / 1000));
    const auto second = guard::run_guarded(request);
    if (!second) {
      print_note(fmt::format("redzone: guard: {}", second.error().why));
      break;
    }
    if (second->ended.over_time) print_note("redzone: guard: the further run took too long");
    narrowed = guard::narrow(run, *second);
    over = second->ended.passed_on != 0;
  }
  if (narrowed == 0) print_note("redzone: guard: no further run has shown the launch");
}

Result<int> run_program(const po::variables_map& flags, Results& out) {
  RZ_TRY_ASSIGN(const auto settings, guard_settings(flags));
  const auto runs = flags["runs"].as<Count>().value;
  if (runs == 0 || runs > kMostRuns)
    return usage_error(fmt::format("guard: --runs: must be 1 to {}", kMostRuns));
  RZ_TRY_ASSIGN(const auto library, guard::guard_library());
  const auto argv = flags["command"].as<std::vector<std::string>>();
  RZ_TRY_ASSIGN(const auto framework, framework_of(flags));
  RZ_TRY_ASSIGN(const auto variables, stored_variables(flags));
  RZ_TRY_ASSIGN(const auto limit, duration_flag(flags, "time"));
  const guard::Started started = guard::started_here(argv, variables);
  std::vector<guard::ProgramRun> all;
  while (all.size() < runs) {
    const auto varied = guard::settings_of_run(settings, varied_settings(flags),
                                               flags["seed"].as<Count>().value, all.size());
    const guard::RunRequest request{.started = {argv, {}, {}},
                                    .library = library,
                                    .settings = varied,
                                    .framework = framework,
                                    .cuda_gdb = engine::find_tool("cuda-gdb"),
                                    .dumps = flags["core-dump"].as<bool>(),
                                    .standard_output = out.descriptor(),
                                    .limit = limit};
    const auto began = std::chrono::steady_clock::now();
    auto run = guard::run_guarded(request);
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - began);
    if (!run) {
      print_note(fmt::format("redzone: guard: {}", run.error().why));
      if (all.empty()) return run.error().exit_code;
      break;  // report what the earlier runs found
    }
    if (flags["narrow"].as<bool>()) narrow(flags, request, took, *run);
    const auto for_framework = std::exchange(run->started, started).environment;
    guard::set_variables(run->started, for_framework);
    all.push_back(*std::move(run));
    if (all.back().ended.passed_on != 0) break;  // the user has ended the series
  }
  return report_runs(flags, out, all);
}

Result<int> Guard::run(const po::variables_map& flags, Results& out) {
  const auto finding_code = flags["error-exitcode"].as<Count>().value;
  if (finding_code == 0 || finding_code > kMostExitCode)
    return usage_error("guard: --error-exitcode: must be 1 to 255");
  const bool attaches = flags.count("attach") != 0, collects = flags.count("collect") != 0;
  const bool runs = flags.count("command") != 0;
  if (attaches + collects + runs > 1)
    return usage_error("guard: a program, --attach and --collect cannot be combined");
  if (attaches + collects + runs == 0)
    return usage_error("guard: no program: redzone guard [options] -- CMD [ARG...]");
  if (attaches) return attach(flags, out);
  if (flags.count("output") != 0) RZ_TRY(check_writable(flags["output"].as<std::string>()));
  if (runs) return run_program(flags, out);
  RZ_TRY(only_flags_of(flags, "collect", {"db", "no-store", "error-exitcode", "output", "json"}));
  RZ_TRY_ASSIGN(const auto collected, guard::collect_folder(flags["collect"].as<std::string>()));
  return report_runs(flags, out, std::span(&collected, 1));
}

}  // namespace

std::unique_ptr<Command> make_guard() {
  return std::make_unique<Guard>();
}

}  // namespace redzone::cli
