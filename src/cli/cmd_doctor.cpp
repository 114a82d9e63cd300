// `redzone doctor`: lists what is available, what is missing and the consequences; then runs
// planted bugs that each device must catch.
#include <fmt/format.h>

#include <optional>

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "cli/sanitizer_line.h"
#include "core/build_environment.h"
#include "core/device_traits.h"
#include "device/devices.h"
#include "engine/engine.h"
#include "engine/guard_proof.h"
#include "engine/tools.h"
#include "python/describe.h"
#include "report/doctor.h"

namespace redzone::cli {
namespace {

class Doctor final : public Command {
 public:
  std::string_view name() const override { return "doctor"; }
  std::string_view synopsis() const override { return "redzone doctor [options]"; }
  std::string_view summary() const override {
    return "show what is installed, what is missing and the consequences; test each device";
  }
  void declare(po::options_description& flags, po::positional_options_description&) const override {
    add_plugin_flag(flags);
    add_python_flag(flags);
    add_json_flag(flags);
  }
  Result<int> run(const po::variables_map& flags, Results& out) override;
};

// Runs the self-proof that every campaign begins with.
report::DoctorLine test_device(DeviceKind device, std::vector<std::filesystem::path> plugins) {
  report::DoctorLine line{fmt::format("self-proof {}", name_of(device)), false, "", ""};
  auto engine = engine::Engine::open({.device = device, .plugins = std::move(plugins)});
  if (!engine) {
    line.found = engine.error().message;
    return line;
  }
  const auto proof = (*engine)->prove();
  line.ok = proof.has_value();
  line.found =
      proof ? fmt::format("{} planted bugs are caught, the clean target passes", proof->caught)
            : proof.error().message;
  return line;
}

void add_cuda_lines(std::vector<report::DoctorLine>& lines, const device::CudaProbe& cuda) {
  lines.push_back(
      {"CUDA side of this build", cuda.built,
       cuda.built ? std::string(build_toolkit()) : "nvcc was not found",
       cuda.built ? "" : "only the host device; install the CUDA toolkit and build again"});
  lines.push_back({"CUDA driver", cuda.driver, cuda.driver ? cuda.driver_version : cuda.problem,
                   cuda.driver ? "" : "only the host device"});
  lines.push_back({"GPU", cuda.device,
                   cuda.device
                       ? fmt::format("{} (compute capability {}.{})", cuda.name,
                                     cuda.compute_capability / 10, cuda.compute_capability % 10)
                       : "none",
                   cuda.device ? "" : "campaigns run on the host device"});
  lines.push_back(
      {"NVRTC", !cuda.nvrtc.empty(), cuda.nvrtc.empty() ? "not found" : cuda.nvrtc,
       cuda.nvrtc.empty() ? "targets that compile at run time cannot run on cuda" : ""});
}

// Tests whether the guard detects a planted overrun in a program.
report::DoctorLine test_guard(engine::GuardedMemory memory, std::string what) {
  const auto proof = engine::prove_guard(memory);
  return {std::move(what), proof.has_value(), proof ? *proof : proof.error().message,
          proof ? "" : "'redzone guard' cannot be relied on here"};
}

// Reports the Python interpreter that would run target files, and the versions of the relevant
// modules.
report::DoctorLine python_line(const std::string& given) {
  report::DoctorLine line{"Python", false, "", "files of Python targets cannot be run"};
  const auto interpreter = python::find_interpreter(given);
  const auto described =
      interpreter ? python::describe(*interpreter, {}) : tl::unexpected(interpreter.error());
  line.ok = described.has_value();
  line.found =
      described ? fmt::format("{}, {}", python::versions_of(*described), interpreter->path.string())
                : described.error().message;
  if (line.ok) line.consequence.clear();
  return line;
}

void add_guard_lines(report::DoctorReport& report, bool has_gpu) {
  constexpr const char* kDriver = "guard of the CUDA driver";
  report.lines.push_back(test_guard(engine::GuardedMemory::malloc, "guard of malloc()"));
  report.guard_ok = report.lines.back().ok;
  if (!has_gpu) {
    report.lines.push_back({kDriver, false, "not proven: no device",
                            "run doctor where programs under 'redzone guard' have a GPU"});
    return;
  }
  report.lines.push_back(test_guard(engine::GuardedMemory::driver, kDriver));
  report.guard_ok = report.guard_ok && report.lines.back().ok;
}

// Checks that memcheck reports an out-of-bounds write in a worker.
Result<void> prove_this_memcheck(DeviceKind device, std::vector<std::filesystem::path> plugins) {
  RZ_TRY_ASSIGN(auto engine,
                engine::Engine::open({.device = device, .plugins = std::move(plugins)}));
  return engine->prove_tool(SanitizerTool::memcheck);
}

Result<int> Doctor::run(const po::variables_map& flags, Results& out) {
  report::DoctorReport report;
  const auto cuda = device::probe_cuda();
  report.lines.push_back({"host device", true, "always there", ""});
  add_cuda_lines(report.lines, cuda);
  const auto plugins = plugin_paths(flags);
  RZ_TRY_ASSIGN(auto registry, Registry::load(plugins));
  report.lines.push_back({"targets", !registry.entries().empty(),
                          fmt::format("{} in {} plugins", registry.names().size(), plugins.size()),
                          ""});
  report.lines.push_back(python_line(python_flag(flags)));
  bool tested = true;
  std::optional<DeviceKind> sanitized;
  for (auto device : device::usable_kinds()) {
    report.lines.push_back(test_device(device, plugins));
    tested = tested && report.lines.back().ok;
    if (traits_of(device).tools.compute_sanitizer) sanitized = device;
  }
  report.lines.push_back(sanitizer_line(engine::find_tool("compute-sanitizer"),
                                        sanitized.has_value(),
                                        [&] { return prove_this_memcheck(*sanitized, plugins); }));
  add_guard_lines(report, cuda.device);
  report.ok = tested;
  out.print(json_wanted(flags) ? report::doctor_json(report) : report::doctor_text(report));
  return tested ? kOk : kHarness;
}

}  // namespace

std::unique_ptr<Command> make_doctor() {
  return std::make_unique<Doctor>();
}

}  // namespace redzone::cli
