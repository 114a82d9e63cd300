// `redzone bench`: the cost of the harness and the time until it finds the puzzles; and,
// internally, the process that runs a workload without a harness.
#include <fmt/format.h>

#include <map>
#include <set>

#include "bench/run.h"
#include "cli/commands.h"
#include "cli/engine_flags.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "core/device_traits.h"
#include "core/read_file.h"
#include "core/write_file.h"

namespace redzone::cli {
namespace {

class Bench final : public Command {
 public:
  std::string_view name() const override { return "bench"; }
  std::string_view synopsis() const override { return "redzone bench [options]"; }
  std::string_view summary() const override {
    return "measure throughput against bare calls and memcheck, detection, and the cost of a fault";
  }
  void declare(po::options_description& flags, po::positional_options_description&) const override {
    flags.add_options()("quick", po::bool_switch(), "use fewer plans and puzzles: under a minute")(
        "part", po::value<std::vector<std::string>>()->composing(),
        "run only this part: throughput, detection, faults, modes, launcher, tma, minute, python "
        "or guard (which takes many minutes, and runs only if it is named); repeatable")(
        "puzzle", po::value<std::vector<std::string>>()->composing(),
        "of the parts detection and modes, measure only this puzzle; repeatable")(
        "program", po::value<std::vector<std::string>>()->composing(),
        "of the part guard, measure only this program: training, inference, launches, softmax, "
        "matmul or layer_norm; repeatable")(
        "resume", po::value<std::string>(),
        "of the part guard, measure what this result (JSON) of the same build and machine lacks, "
        "and take over the rest")("out", po::value<std::string>(),
                                  "also write the report to this file as JSON")(
        "commit", po::value<std::string>()->default_value("unknown"),
        "commit of this build, for the report");
    add_device_flag(flags);
    add_plugin_flag(flags);
    add_package_flag(flags);
    add_python_flag(flags);
    add_worker_flags(flags);
  }
  Result<int> run(const po::variables_map& flags, Results& out) override;
};

class BenchBare final : public Command {
 public:
  std::string_view name() const override { return bench::kBareCommand; }
  std::string_view synopsis() const override {
    return "redzone bench-bare --workload NAME --socket-fd N --black-box-fd M";
  }
  std::string_view summary() const override {
    return "runs a workload without a harness (internal)";
  }
  bool internal() const override { return true; }
  void declare(po::options_description& flags, po::positional_options_description&) const override {
    add_device_flag(flags);
    add_plugin_flag(flags);
    add_package_flag(flags);
    flags.add_options()("workload", po::value<std::string>()->required(), "which plans")(
        "quick", po::bool_switch(), "fewer of them")("socket-fd", po::value<int>()->required(),
                                                     "the benchmark")(
        "black-box-fd", po::value<int>()->required(), "as for a worker; not used");
  }
  Result<int> run(const po::variables_map& flags, Results& out) override;
};

Result<std::set<bench::Part>> parts_wanted(const po::variables_map& flags) {
  using enum bench::Part;
  const std::map<std::string, bench::Part> names = {
      {"throughput", throughput}, {"detection", detection}, {"faults", faults},
      {"modes", modes},           {"launcher", launcher},   {"tma", tma},
      {"minute", minute},         {"python", python},       {"guard", guard}};
  std::set<bench::Part> parts;
  if (flags.count("part") == 0) {
    for (const auto& [name, part] : names)
      if (part != guard) parts.insert(part);
    return parts;
  }
  for (const auto& name : flags["part"].as<std::vector<std::string>>()) {
    const auto found = names.find(name);
    if (found == names.end())
      return usage_error(
          fmt::format("--part {}: must be throughput, detection, faults, modes, launcher, tma, "
                      "minute, python or guard",
                      name));
    parts.insert(found->second);
  }
  return parts;
}

std::vector<std::string> texts_of(const po::variables_map& flags, const char* name) {
  if (flags.count(name) == 0) return {};
  return flags[name].as<std::vector<std::string>>();
}

Result<void> write_result(const po::variables_map& flags, const bench::Report& report) {
  if (flags.count("out") == 0) return {};
  return write_file(flags["out"].as<std::string>(), bench::report_json(report));
}

// The result to continue from, as text; "" if none was given.
Result<std::string> earlier_result(const po::variables_map& flags,
                                   const std::set<bench::Part>& parts) {
  for (const char* name : {"program", "resume"})
    if (flags.count(name) != 0 && !parts.contains(bench::Part::guard))
      return usage_error(fmt::format("--{} is about the part guard", name));
  if (flags.count("puzzle") != 0 && !parts.contains(bench::Part::detection) &&
      !parts.contains(bench::Part::modes))
    return usage_error("--puzzle is about the parts detection and modes");
  if (flags.count("resume") == 0) return std::string();
  return read_file(flags["resume"].as<std::string>());
}

std::string as_typed(const po::variables_map& flags, DeviceKind device) {
  std::string text = fmt::format("redzone bench --device {}{}", name_of(device),
                                 flags["quick"].as<bool>() ? " --quick" : "");
  if (flags.count("part") != 0)
    for (const auto& part : flags["part"].as<std::vector<std::string>>()) text += " --part " + part;
  for (const char* name : {"puzzle", "program"})
    for (const auto& value : texts_of(flags, name)) text += fmt::format(" --{} {}", name, value);
  return text;
}

Result<int> Bench::run(const po::variables_map& flags, Results& out) {
  watch_interrupts();
  RZ_TRY_ASSIGN(auto parts, parts_wanted(flags));
  RZ_TRY_ASSIGN(auto earlier, earlier_result(flags, parts));
  if (flags.count("out") != 0) RZ_TRY(check_writable(flags["out"].as<std::string>()));
  RZ_TRY_ASSIGN(auto options, engine_options(flags, engine::Workload::campaign));
  RZ_TRY_ASSIGN(const auto report,
                bench::run({.engine = options,
                            .parts = std::move(parts),
                            .quick = flags["quick"].as<bool>(),
                            .puzzles = texts_of(flags, "puzzle"),
                            .programs = texts_of(flags, "program"),
                            .earlier = std::move(earlier),
                            .keep =
                                [&](const bench::Report& so_far) {
                                  if (const auto kept = write_result(flags, so_far); !kept)
                                    print_note("bench: " + kept.error().message);
                                },
                            .commit = flags["commit"].as<std::string>(),
                            .command = as_typed(flags, options.device),
                            .say = [](const std::string& what) { print_note("bench: " + what); }}));
  out.print(bench::report_text(report));
  RZ_TRY(write_result(flags, report));
  return report.interrupted ? kInterrupted : kOk;
}

Result<int> BenchBare::run(const po::variables_map& flags, Results&) {
  RZ_TRY_ASSIGN(const auto options, worker_side_options(flags));
  return bench::serve_bare(options, flags["workload"].as<std::string>(), flags["quick"].as<bool>(),
                           flags["socket-fd"].as<int>());
}

}  // namespace

std::unique_ptr<Command> make_bench() {
  return std::make_unique<Bench>();
}
std::unique_ptr<Command> make_bench_bare() {
  return std::make_unique<BenchBare>();
}

}  // namespace redzone::cli
