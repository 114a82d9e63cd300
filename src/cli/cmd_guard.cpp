// `redzone guard`: runs any program with its allocations between guard pages.
#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "cli/verbosity.h"
#include "core/names.h"
#include "core/temporary_folder.h"
#include "engine/tools.h"
#include "guard/core_dump.h"
#include "guard/framework.h"
#include "guard/names.h"
#include "guard/narrow.h"
#include "guard/program_run.h"
#include "report/guard.h"

namespace redzone::cli {
namespace {

constexpr int kMostExitCode = 255;
constexpr std::uint64_t kMostPoison = 255;
constexpr std::string_view kNoPoison = "none";

class Guard final : public Command {
 public:
  std::string_view name() const override { return "guard"; }
  std::string_view synopsis() const override { return "redzone guard [options] -- CMD [ARG...]"; }
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
                      "the program and its arguments")("cpu", po::bool_switch(),
                                                       "guard malloc() and its relatives as well")(
      "placement", po::value<std::string>()->default_value("guard_after"),
      "guard_after or guard_before: on which side of each block the guard page is")(
      "align", po::value<Count>(),
      "alignment of blocks in bytes, a power of two up to 4096 (default: 256 on a device, 16 on "
      "the CPU, as their allocators promise); a smaller one leaves less slack")(
      "poison", po::value<std::string>()->default_value("0xff"),
      "byte that fills new and freed memory, or none")(
      "retire", po::value<std::string>()->default_value("sample"),
      "sample or all: how many freed blocks of a device are unmapped; on the CPU all are")(
      "max-memory", po::value<Count>(),
      "device memory in MiB beyond which small blocks share their slots (default: half of it)")(
      "min-bytes", po::value<Count>()->default_value(Count{1024}),
      "smallest block of malloc() that is guarded")("error-exitcode",
                                                    po::value<Count>()->default_value(Count{1}),
                                                    "exit code for a finding, 1 to 255")(
      "launch", po::value<std::string>()->default_value("async"),
      "async, blocking: each launch is waited for, or held: streams that --seed chooses are "
      "stopped "
      "for up to 3 ms")("seed", po::value<Count>()->default_value(Count{1}),
                        "of --launch held; 0 or more")(
      "check", po::value<std::string>()->default_value("free"),
      "free or each-launch: when canaries of live blocks of a device are compared; each-launch "
      "waits for each, and names the one after which a canary was wrong")(
      "no-python-stacks", po::bool_switch(), "take no stacks of the Python interpreter")(
      "narrow", po::bool_switch(),
      "run the program again for what names the kernel behind a canary (--check each-launch) or an "
      "error of a device (--launch blocking, and its core dump where cuda-gdb can read it)")(
      "on-error", po::value<std::string>()->default_value("stop"),
      "stop or continue: memory takes the place of guard pages, so that the program goes on; of a "
      "device, writes to it are reported without their block, and reads are not")(
      "framework", po::value<std::string>()->default_value("auto"),
      "auto, none, torch-nocache or jax-platform: what the environment tells a framework, so that "
      "each of its buffers is an allocation; auto: of a Python program both")(
      "core-dump", po::bool_switch(),
      "let the driver write a core dump at an error of a kernel, which cuda-gdb reads; with it the "
      "driver may miss a write out of bounds")(
      "output", po::value<std::string>(),
      "file for the report (default: standard error, with --json standard output)");
  words.add("command", -1);
  add_json_flag(flags);
}

Result<int> poison_of(const std::string& text) {
  if (text == kNoPoison) return -1;
  const bool is_hex = text.starts_with("0x");
  const char* const begin = text.data() + (is_hex ? 2 : 0);
  const char* const end = text.data() + text.size();
  std::uint64_t value = 0;
  const auto read = std::from_chars(begin, end, value, is_hex ? 16 : 10);
  if (read.ec != std::errc{} || read.ptr != end || value > kMostPoison)
    return usage_error(
        fmt::format("guard: --poison: '{}': must be 0 to 255, 0x0 to 0xff, or none", text));
  return static_cast<int>(value);
}

template <class T>
Result<T> choice(const po::variables_map& flags, const char* flag,
                 std::initializer_list<std::pair<T, const char*>> table) {
  return value_in(std::vector<std::pair<T, const char*>>(table), flags[flag].as<std::string>(),
                  std::string("--") + flag);
}

Result<interpose::Settings> settings_of(const po::variables_map& flags) {
  using interpose::Placement;
  using interpose::Retire;
  interpose::Settings out;
  out.cpu = flags["cpu"].as<bool>();
  out.python = !flags["no-python-stacks"].as<bool>();
  RZ_TRY_ASSIGN(out.placement, choice<Placement>(flags, "placement",
                                                 {{Placement::guard_after, "guard_after"},
                                                  {Placement::guard_before, "guard_before"}}));
  RZ_TRY_ASSIGN(out.retire, choice<Retire>(flags, "retire",
                                           {{Retire::sample, "sample"}, {Retire::all, "all"}}));
  RZ_TRY_ASSIGN(out.poison, poison_of(flags["poison"].as<std::string>()));
  if (flags.count("align") != 0) {
    out.align_bytes = flags["align"].as<Count>().value;
    if (!std::has_single_bit(out.align_bytes) || out.align_bytes > interpose::kMostAlignBytes)
      return usage_error(fmt::format("guard: --align {}: must be a power of two, at most {}",
                                     out.align_bytes, interpose::kMostAlignBytes));
  }
  constexpr std::uint64_t most_mib = std::uint64_t{1} << 24;  // 16 TiB
  if (flags.count("max-memory") != 0) {
    const auto mib = flags["max-memory"].as<Count>().value;
    if (mib == 0 || mib > most_mib)
      return usage_error(fmt::format("guard: --max-memory: must be 1 to {} MiB", most_mib));
    out.max_memory_bytes = mib << 20;
  }
  RZ_TRY_ASSIGN(out.launch, parse_name<interpose::LaunchMode>(flags["launch"].as<std::string>()));
  RZ_TRY_ASSIGN(out.check, parse_name<interpose::Check>(flags["check"].as<std::string>()));
  RZ_TRY_ASSIGN(out.on_error, parse_name<interpose::OnError>(flags["on-error"].as<std::string>()));
  out.seed = flags["seed"].as<Count>().value;
  out.min_bytes = flags["min-bytes"].as<Count>().value;
  if (out.min_bytes == 0 || out.min_bytes > (most_mib << 20))
    return usage_error("guard: --min-bytes: must be at least 1");
  return out;
}

// Beside the binary, so that the build folder can be copied.
Result<std::filesystem::path> guard_library() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto out = self.parent_path().parent_path() / "lib" / "redzone" / "libredzone_guard.so";
  if (error || !std::filesystem::exists(out, error))
    return harness_error(fmt::format(
        "guard: {} is missing: it is built on x86-64 only, and without sanitizers", out.string()));
  return out;
}

Result<void> write_report(const std::string& file, const std::string& text) {
  std::ofstream out(file);
  out << text << std::flush;
  if (!out) return harness_error(fmt::format("guard: --output {}: cannot be written", file));
  return {};
}

// One run of the program, from its start to what its processes have left.
class Runner {
 public:
  // `environment`: for a framework.
  Runner(std::filesystem::path program, std::filesystem::path library,
         std::vector<std::pair<std::string, std::string>> environment, std::string cuda_gdb,
         int standard_output)
      : program_(std::move(program)),
        library_(std::move(library)),
        environment_(std::move(environment)),
        cuda_gdb_(std::move(cuda_gdb)),
        standard_output_(standard_output) {}

  // Into `run`, of which argv and settings are set. A refusal: it did not run. `dump`: with core
  // dumps of the driver, if they can be read.
  Result<std::optional<guard::Refusal>> run(guard::ProgramRun& run, bool dump) const {
    RZ_TRY_ASSIGN(const auto folder, TemporaryFolder::create("guard"));
    auto environment = environment_;
    if (dump && !cuda_gdb_.empty())
      for (auto& one : guard::dump_environment(folder.path()))
        environment.push_back(std::move(one));
    const auto ended = guard::run_program({run.argv, program_, library_, folder.path(),
                                           run.settings, std::move(environment), standard_output_});
    if (!ended) return ended.error();
    run.ended = *ended;
    run.processes = guard::read_process_records(folder.path(), run.unreadable);
    if (dump) guard::read_core_dumps(run.processes, cuda_gdb_);
    return std::nullopt;
  }

 private:
  std::filesystem::path program_, library_;
  std::vector<std::pair<std::string, std::string>> environment_;
  std::string cuda_gdb_;
  int standard_output_;
};

// Names the launches behind findings by further runs, of which none must show anything. With a core
// dump the driver misses some errors, so where that run shows none, one without follows.
Result<void> narrow(const Runner& runner, guard::ProgramRun& run) {
  const auto wanted = guard::narrowing_of(run);
  if (wanted == guard::Narrowing::none) return {};
  const bool of_error = wanted == guard::Narrowing::error;
  std::size_t narrowed = 0;
  for (const bool dump : {true, false}) {
    if (narrowed != 0 || (dump && !of_error)) continue;
    print_note(fmt::format("redzone: guard: the program runs again, {}{}",
                           of_error ? "waiting for each launch" : "with a check after each launch",
                           dump ? ", with core dumps" : ""));
    guard::ProgramRun second;
    second.argv = run.argv;
    second.settings = run.settings;
    second.settings.launch = interpose::LaunchMode::blocking;
    if (!of_error) second.settings.check = interpose::Check::each_launch;
    RZ_TRY_ASSIGN(const auto refused, runner.run(second, dump));
    narrowed = refused ? 0 : guard::narrow(run, second);
  }
  if (narrowed == 0) print_note("redzone: guard: no further run has shown the launch");
  return {};
}

Result<int> Guard::run(const po::variables_map& flags, Results& out) {
  if (flags.count("command") == 0)
    return usage_error("guard: no program: redzone guard [options] -- CMD [ARG...]");
  RZ_TRY_ASSIGN(const auto settings, settings_of(flags));
  const auto finding_code = flags["error-exitcode"].as<Count>().value;
  if (finding_code == 0 || finding_code > kMostExitCode)
    return usage_error("guard: --error-exitcode: must be 1 to 255");
  if (flags.count("output") != 0) RZ_TRY(check_writable(flags["output"].as<std::string>()));
  RZ_TRY_ASSIGN(const auto library, guard_library());

  guard::ProgramRun run;
  run.argv = flags["command"].as<std::vector<std::string>>();
  run.settings = settings;
  run.foreign_preload = guard::foreign_preload();
  const auto refused = [](const guard::Refusal& refusal) {
    print_note(fmt::format("redzone: guard: {}", refusal.why));
    return refusal.exit_code;
  };
  const auto program = guard::find_program(run.argv.front());
  if (!program) return refused(program.error());
  RZ_TRY_ASSIGN(const auto framework,
                parse_name<guard::Framework>(flags["framework"].as<std::string>()));
  auto prepared = guard::prepare(framework, *program);
  run.framework = std::move(prepared.note);
  const Runner runner(*program, library, std::move(prepared.environment),
                      engine::find_tool("cuda-gdb"), out.descriptor());
  RZ_TRY_ASSIGN(const auto refusal, runner.run(run, flags["core-dump"].as<bool>()));
  if (refusal) return refused(*refusal);
  if (flags["narrow"].as<bool>()) RZ_TRY(narrow(runner, run));

  const int code = run.exit_code(static_cast<int>(finding_code));
  const bool json = json_wanted(flags);
  const auto notes =
      verbosity_of(flags) >= log::Level::info ? report::Notes::all : report::Notes::telling;
  const std::string text =
      json ? report::guard_json(run, code) : report::guard_text(run, code, notes);
  if (flags.count("output") != 0)
    RZ_TRY(write_report(flags["output"].as<std::string>(), text));
  else if (json)
    out.print(text);
  else
    print_note(text);
  return code;
}

}  // namespace

std::unique_ptr<Command> make_guard() {
  return std::make_unique<Guard>();
}

}  // namespace redzone::cli
