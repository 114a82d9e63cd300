#include "core/environment.h"

namespace redzone {
namespace {

constexpr std::string_view kPackage = ", package ", kPlugin = ", plugin ";

std::string with_origin(std::string_view made_by, std::string_view kind, std::string_view file) {
  return std::string(made_by).append(kind).append(file);
}

std::string origin(const Environment& environment, std::string_view kind) {
  const auto at = environment.toolkit.find(kind);
  return at == std::string::npos ? "" : environment.toolkit.substr(at + kind.size());
}

}  // namespace

std::string other_data_than(const Environment& recorded) {
  if (!recorded.redzone_version.starts_with("0.1.")) return "";
  return "it was recorded by Redzone " + recorded.redzone_version +
         ", where the seeds of the plan drew other data";
}

std::string toolkit_of_package(std::string_view compiled_by, std::string_view folder) {
  return with_origin(compiled_by, kPackage, folder);
}

std::string package_of(const Environment& environment) {
  return origin(environment, kPackage);
}

std::string toolkit_of_plugin(std::string_view made_by, std::string_view file) {
  return with_origin(made_by, kPlugin, file);
}

std::string plugin_of(const Environment& environment) {
  return origin(environment, kPlugin);
}

}  // namespace redzone
