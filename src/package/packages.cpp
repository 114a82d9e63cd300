#include "package/packages.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "package/package_target.h"
#include "package/reader.h"

namespace redzone::package {
namespace {

Result<TargetEntry> entry_of(const std::filesystem::path& folder) {
  auto read = read_package(folder);
  if (!read) return tl::unexpected(read.error());
  const auto reference = reference_of(*read);
  if (!reference) return tl::unexpected(reference.error());
  const auto package = std::make_shared<const Package>(std::move(*read));
  TargetEntry entry;
  entry.spec = spec_of(package);
  entry.device = DeviceKind::cuda;
  entry.make = [package, reference = *reference] {
    return std::make_unique<PackageTarget>(package, reference);
  };
  entry.plugin = folder;
  entry.code_hash = package->code_hash;
  entry.is_package = true;
  entry.compiled_by = fmt::format("Triton {}, package {}", package->triton, folder.string());
  return entry;
}

}  // namespace

Result<void> add_packages(Registry& registry, std::span<const std::filesystem::path> folders) {
  for (const auto& folder : folders) {
    auto entry = entry_of(folder);
    if (!entry) return tl::unexpected(entry.error());
    if (auto added = registry.add(std::move(*entry)); !added) return added;
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
