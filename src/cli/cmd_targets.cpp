// `redzone targets`: lists the targets, and whether each can run here.

#include <map>

#include "cli/commands.h"
#include "cli/engine_flags.h"
#include "cli/output.h"
#include "core/device_traits.h"
#include "device/devices.h"
#include "report/json.h"
#include "report/text.h"
#include "target/capability.h"

namespace redzone::cli {
namespace {

class Targets final : public Command {
 public:
  std::string_view name() const override { return "targets"; }
  std::string_view synopsis() const override { return "redzone targets [NAME|FILE.py] [options]"; }
  std::string_view summary() const override {
    return "list targets and puzzles; with a name, its dims, tensors and knobs";
  }
  void declare(po::options_description& flags,
               po::positional_options_description& words) const override {
    flags.add_options()("target", po::value<std::vector<std::string>>(),
                        "one target, or a file of Python targets, which are listed alone");
    words.add("target", 1);
    add_target_flags(flags);
    add_json_flag(flags);
  }
  Result<int> run(const po::variables_map& flags, Results& out) override;
};

report::TargetDevice device_of(const TargetEntry& entry, const device::Presence& here) {
  report::TargetDevice d{std::string(name_of(entry.device)), true, "", entry.origin.path,
                         entry.code_hash};
  d.why_not = here.problem;
  if (d.why_not.empty())
    d.why_not =
        support_problem(entry.spec, traits_of(entry.device), here.compute_capability, here.nvrtc)
            .value_or("");
  d.runs_here = d.why_not.empty();
  return d;
}

Result<int> Targets::run(const po::variables_map& flags, Results& out) {
  RZ_TRY_ASSIGN(auto registry, load_registry(flags));
  const std::string word =
      flags.count("target") == 0 ? "" : flags["target"].as<std::vector<std::string>>().front();
  const std::string name = is_python_file(word) ? "" : word;
  std::map<DeviceKind, device::Presence> devices;
  for (const auto& device : all_devices())
    devices.emplace(device.kind, device::look_for(device.kind));
  std::vector<report::TargetInfo> infos;
  for (const auto& entry : registry.entries()) {
    if (is_python_file(word) && entry.origin.source != TargetSource::python) continue;
    if (infos.empty() || infos.back().spec.name != entry.spec.name)
      infos.push_back({entry.spec, {}});
    infos.back().devices.push_back(device_of(entry, devices.at(entry.device)));
  }
  if (!name.empty()) {
    // Returns the error for an unknown name.
    RZ_TRY(registry.require_any(name));
    std::erase_if(infos, [&](const auto& info) { return info.spec.name != name; });
  }
  if (json_wanted(flags))
    out.print(report::targets_json(infos));
  else if (!name.empty())
    out.print(report::target_text(infos.front()));
  else
    out.print(report::targets_text(infos));
  return kOk;
}

}  // namespace

std::unique_ptr<Command> make_targets() {
  return std::make_unique<Targets>();
}

}  // namespace redzone::cli
