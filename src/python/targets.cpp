#include "python/targets.h"

#include <fmt/format.h>

#include "core/device_traits.h"

namespace redzone::python {
namespace {

class WithoutPython final : public Target {
 public:
  explicit WithoutPython(std::string name) : name_(std::move(name)) {}
  void run(Context& ctx) override {
    ctx.unsupported(fmt::format("'{}' is Python code, and this process runs none", name_));
  }

 private:
  std::string name_;
};

}  // namespace

Result<void> add_targets(Registry& registry, const Descriptions& descriptions,
                         const TargetOrigin& origin, const MakeTarget& make) {
  for (const auto& target : descriptions.targets)
    for (const auto& device : all_devices()) {
      if (device.targets.runs_plugins_of) continue;
      TargetEntry entry;
      entry.spec = spec_of(target);
      entry.device = device.kind;
      entry.make = [make, target] { return make(target); };
      entry.origin = origin;
      entry.origin.path = target->file;
      entry.line = target->line;
      entry.code_hash = target->code_hash;
      entry.loaded_hash = descriptions.code_hash;
      entry.compiled_by = versions_of(descriptions);
      entry.immediate = device.execution.on_host_cores;
      RZ_TRY(registry.add(std::move(entry)));
    }
  return {};
}

std::unique_ptr<Target> without_python(
    const std::shared_ptr<const TargetDescription>& description) {
  return std::make_unique<WithoutPython>(description->name);
}

}  // namespace redzone::python
