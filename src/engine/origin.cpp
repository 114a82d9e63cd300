#include "engine/origin.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/device_traits.h"
#include "core/environment.h"
#include "core/terminal.h"

namespace redzone::engine {

std::string toolkit_of(const TargetEntry& target, std::string_view built_by) {
  const std::string_view made_by = target.compiled_by.empty() ? built_by : target.compiled_by;
  const auto shipped = shipped_plugins();
  if (target.plugin.empty() ||
      std::find(shipped.begin(), shipped.end(), target.plugin) != shipped.end())
    return std::string(made_by);
  std::error_code error;
  auto path = std::filesystem::absolute(target.plugin, error).lexically_normal();
  // "DIR/" and "DIR" are one package.
  if (!path.has_filename()) path = path.parent_path();
  return target.is_package ? toolkit_of_package(made_by, path.string())
                           : toolkit_of_plugin(made_by, path.string());
}

DeviceKind device_of(const Environment& found_in, DeviceKind asked) {
  const DeviceTraits& device = traits_of_device(found_in.device);
  return device.has_product_name ? asked : device.kind;
}

Error with_origin(Error error, const Environment& found_in) {
  const std::string package = package_of(found_in), plugin = plugin_of(found_in);
  if (!package.empty())
    error.message += fmt::format("; it came from the package {}, code {}: --package {}", package,
                                 found_in.code_hash, shell_quoted(package));
  else if (!plugin.empty())
    error.message +=
        fmt::format("; it came from the plugin {}: --plugin {}", plugin, shell_quoted(plugin));
  else if (!found_in.toolkit.empty())
    error.message += fmt::format("; the finding's code was made by {}", found_in.toolkit);
  return error;
}

std::optional<std::string> other_code(const TargetEntry& here, const Environment& found_in,
                                      const std::string& finding) {
  if (!here.is_package || found_in.code_hash.empty() || here.code_hash == found_in.code_hash)
    return std::nullopt;
  return fmt::format("{} has the code {}, but {} was found with the code {}", here.plugin.string(),
                     here.code_hash, finding, found_in.code_hash);
}

}  // namespace redzone::engine
