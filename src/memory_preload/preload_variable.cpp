#include "memory_preload/preload_variable.h"

#include "core/preload.h"

namespace redzone::memory_preload {

PreloadVariable preload_variable(const std::filesystem::path& library, std::string_view now) {
  PreloadVariable without{.value = std::string(now)};
  std::error_code error;
  if (!std::filesystem::is_regular_file(library, error)) return without;
  if (can_be_preloaded(library)) return {.value = preload_before(library, now)};
  auto folder = TemporaryFolder::create("preload");
  if (!folder) return without;
  const auto name = preload_name(library, folder->path());
  if (!name) return without;
  return {.value = preload_before(*name, now),
          .folder = std::make_shared<const TemporaryFolder>(*std::move(folder))};
}

}  // namespace redzone::memory_preload
