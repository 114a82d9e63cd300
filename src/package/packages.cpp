#include "package/packages.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "core/device_traits.h"
#include "launcher/mistakes.h"
#include "launcher/rule_knobs.h"
#include "package/lazy_package.h"
#include "package/package_target.h"
#include "package/reader.h"

namespace redzone::package {
namespace {

// The targets of one package for one device.
class Entries {
 public:
  Entries(std::shared_ptr<const Package> package, const references::Reference* reference)
      : package_(std::move(package)),
        settings_(std::make_shared<const Settings>(Settings::of(*package_))),
        choice_(std::make_shared<const TunedChoice>(package_)),
        reference_(reference) {}

  std::vector<TargetEntry> make(DeviceKind device) const {
    std::vector<TargetEntry> all{entry(device, spec_of(package_, settings_))};
    all.back().make = [package = package_, settings = settings_, reference = reference_] {
      return std::make_unique<PackageTarget>(package, settings, reference);
    };
    all.push_back(lazy(device, package_->name + ".lazy_launch", Category::kernel, kNoMistake));
    for (auto& knob : lazy::rule_knobs()) all.back().spec.knobs.push_back(std::move(knob));
    for (const auto& mistake : lazy::kMistakes)
      if (choice_->can_make(mistake))
        all.push_back(lazy(device, fmt::format("puzzle.{}.lazy_{}", package_->name, mistake.name),
                           Category::puzzle, mistake));
    return all;
  }

 private:
  static constexpr lazy::Mistake kNoMistake{
      "", "compiled, tuned and frozen by the first call of a shape", {}};

  TargetEntry entry(DeviceKind device, TargetSpec spec) const {
    TargetEntry entry;
    entry.spec = std::move(spec);
    entry.device = device;
    entry.origin = {TargetSource::package, package_->folder.string()};
    entry.code_hash = package_->code_hash;
    entry.compiled_by = "Triton " + package_->triton;
    return entry;
  }

  TargetEntry lazy(DeviceKind device, std::string name, Category category,
                   const lazy::Mistake& mistake) const {
    TargetSpec spec = lazy_spec_of(choice_);
    spec.name = std::move(name);
    spec.category = category;
    spec.doc = fmt::format("{}{}{}", spec.doc, spec.doc.empty() ? "" : ": ", mistake.what);
    TargetEntry made = entry(device, std::move(spec));
    made.is_lazy = true;
    made.make = [choice = choice_, reference = reference_, rules = mistake.rules] {
      return std::make_unique<LazyPackageTarget>(choice, reference, rules);
    };
    return made;
  }

  std::shared_ptr<const Package> package_;
  std::shared_ptr<const Settings> settings_;
  std::shared_ptr<const TunedChoice> choice_;
  const references::Reference* reference_;
};

Result<Entries> entries_of(const std::filesystem::path& folder) {
  RZ_TRY_ASSIGN(auto read, read_package(folder));
  RZ_TRY_ASSIGN(const auto reference, reference_of(read));
  return Entries(std::make_shared<const Package>(std::move(read)), reference);
}

}  // namespace

Result<void> add_packages(Registry& registry, std::span<const std::filesystem::path> folders) {
  for (const auto& folder : folders) {
    RZ_TRY_ASSIGN(const auto entries, entries_of(folder));
    for (const auto& device : all_devices()) {
      if (!device.targets.launches_cubins) continue;
      for (auto& entry : entries.make(device.kind)) RZ_TRY(registry.add(std::move(entry)));
    }
  }
  return {};
}

std::vector<std::filesystem::path> shipped_packages() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const auto all = self.parent_path().parent_path() / "lib" / "redzone" / "packages";
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(all, error))
    if (std::filesystem::exists(entry.path() / "target.toml", error))
      folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  return folders;
}

}  // namespace redzone::package
