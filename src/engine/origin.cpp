#include "engine/origin.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/device_traits.h"
#include "core/environment.h"

namespace redzone::engine {

std::string toolkit_of(const TargetEntry& target, std::string_view built_by) {
  return std::string(target.compiled_by.empty() ? built_by : target.compiled_by);
}

TargetOrigin origin_of(const TargetEntry& target) {
  const std::filesystem::path given = target.origin.path;
  const auto shipped = shipped_plugins();
  if (given.empty() || std::find(shipped.begin(), shipped.end(), given) != shipped.end()) return {};
  std::error_code error;
  auto path = std::filesystem::absolute(given, error).lexically_normal();
  // "DIR/" and "DIR" are the same package.
  if (!path.has_filename()) path = path.parent_path();
  TargetOrigin origin = target.origin;
  origin.path = path.string();
  return origin;
}

DeviceKind device_of(const Environment& found_in, DeviceKind asked) {
  const DeviceTraits& device = traits_of_device(found_in.device);
  return device.has_product_name ? asked : device.kind;
}

Error with_origin(Error error, const Environment& found_in) {
  const TargetOrigin& origin = found_in.origin;
  if (origin.source != TargetSource::built_in)
    error.message += fmt::format("; it came from the {}, code {}:{}", text_of(origin),
                                 found_in.code_hash, flags_of(origin));
  else if (!found_in.toolkit.empty())
    error.message += fmt::format("; the finding's code was made by {}", found_in.toolkit);
  return error;
}

std::optional<std::string> other_code(const TargetEntry& here, const Environment& found_in,
                                      const std::string& finding) {
  const bool changes = here.is_package() || here.origin.source == TargetSource::python;
  if (!changes || found_in.code_hash.empty() || here.code_hash == found_in.code_hash)
    return std::nullopt;
  return fmt::format("{} has the code {}, but {} was found with the code {}", here.origin.path,
                     here.code_hash, finding, found_in.code_hash);
}

}  // namespace redzone::engine
