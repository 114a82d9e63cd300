#include "cli/origin.h"

#include <fmt/format.h>

namespace redzone::cli {

std::string toolkit_of(const TargetEntry& target) {
  if (!target.is_package) return target.compiled_by;
  std::error_code error;
  auto folder = std::filesystem::absolute(target.plugin, error).lexically_normal();
  // "DIR/" and "DIR" are one package.
  if (!folder.has_filename()) folder = folder.parent_path();
  return store::toolkit_of_package(target.compiled_by, folder.string());
}

Error with_origin(Error error, const store::Environment& found_in) {
  const std::string package = store::package_of(found_in);
  if (!package.empty())
    error.message += fmt::format("; it came from the package {}, code {}: --package {}", package,
                                 found_in.code_hash, package);
  else if (!found_in.toolkit.empty())
    error.message += fmt::format("; the finding's code was made by {}", found_in.toolkit);
  return error;
}

std::optional<std::string> other_code(const TargetEntry& here, const store::Environment& found_in,
                                      const std::string& finding) {
  if (!here.is_package || found_in.code_hash.empty() || here.code_hash == found_in.code_hash)
    return std::nullopt;
  return fmt::format("{} has the code {}, which is not the code of {}: that was {}",
                     here.plugin.string(), here.code_hash, finding, found_in.code_hash);
}

}  // namespace redzone::cli
