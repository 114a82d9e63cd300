#include "core/preload.h"

#include <fmt/format.h>

namespace redzone {

bool can_be_preloaded(const std::filesystem::path& path) {
  return path.string().find_first_of(": \t\n") == std::string::npos;
}

Result<std::filesystem::path> preload_name(const std::filesystem::path& library,
                                           const std::filesystem::path& folder) {
  if (can_be_preloaded(library)) return library;
  const auto link =
      folder / (can_be_preloaded(library.filename()) ? library.filename() : "library.so");
  if (!can_be_preloaded(link))
    return harness_error(
        fmt::format("LD_PRELOAD can name neither {} nor a link in {}: a space or a colon in both",
                    library.string(), folder.string()));
  std::error_code error;
  if (std::filesystem::read_symlink(link, error) == library) return link;
  std::filesystem::create_symlink(library, link, error);
  if (error)
    return harness_error(
        fmt::format("LD_PRELOAD cannot name {}, which has a space or a colon, and {} cannot be "
                    "made: {}",
                    library.string(), link.string(), error.message()));
  return link;
}

std::string preload_before(const std::filesystem::path& name, std::string_view now) {
  return now.empty() ? name.string() : fmt::format("{}:{}", name.string(), now);
}

}  // namespace redzone
