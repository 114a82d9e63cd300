#include "package/reader.h"

#include <fmt/format.h>
#include <xxhash.h>

#include "core/document.h"
#include "core/read_file.h"
#include "core/table_reader.h"
#include "package/description.h"
#include "package/sanity.h"
#include "package/variants.h"

namespace redzone::package {
namespace {

constexpr std::size_t kMostDescriptionBytes = std::size_t{16} << 20;

}  // namespace

Result<Package> read_package(const std::filesystem::path& folder) {
  Package package;
  package.folder = folder;
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error))
    return usage_error(fmt::format("package {}: no such folder", folder.string()));
  const auto file = folder / "target.toml";
  RZ_TRY_ASSIGN(const auto text, read_file(file, kMostDescriptionBytes));
  RZ_TRY_ASSIGN(const auto document, read_toml(text, file.string(), "a package"));
  return checked_read([&] {
    std::string all = text;  // the input of the hash
    TableReader root(document);
    read_description(root, package);
    read_variants(root, package, all);
    root.done();
    check_sanity(root, package);
    const XXH128_hash_t h = XXH3_128bits(all.data(), all.size());
    package.code_hash = fmt::format("{:016x}{:016x}", h.high64, h.low64);
    return std::move(package);
  });
}

}  // namespace redzone::package
