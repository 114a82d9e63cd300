#include "nightly/write.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <system_error>

#include "report/night_formats.h"

namespace redzone::nightly {

Result<void> prepare_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return usage_error(fmt::format("--report: {}: {}", folder.string(), error.message()));
  // Problems such as permissions or a full disk show only when a file is created.
  const auto probe = folder / fmt::format(".redzone-{}", ::getpid());
  const bool made = static_cast<bool>(std::ofstream(probe) << "x" << std::flush);
  const bool removed = std::filesystem::remove(probe, error);
  if (!made || !removed)
    return usage_error(
        fmt::format("--report: {}: cannot create a file in this folder", folder.string()));
  return {};
}

Result<void> write_night(const report::Night& night, const std::filesystem::path& folder) {
  for (const auto& format : report::night_formats()) {
    const auto path = folder / format.file;
    const auto next = folder / fmt::format(".{}.{}", format.file, ::getpid());
    std::ofstream out(next, std::ios::binary);
    out << format.write(night);
    out.close();
    std::error_code failed;
    if (out) std::filesystem::rename(next, path, failed);
    if (out && !failed) continue;
    const std::string why = failed ? ": " + failed.message() : "";
    std::filesystem::remove(next, failed);
    return harness_error(fmt::format("{}: cannot be written{}", path.string(), why));
  }
  return {};
}

}  // namespace redzone::nightly
