#include "nightly/write.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "core/write_file.h"
#include "report/night_formats.h"

namespace redzone::nightly {

Result<void> prepare_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const bool is_full = error.value() == ENOSPC || error.value() == EDQUOT;
  if (error)
    return tl::unexpected(Error{is_full ? ErrorKind::harness : ErrorKind::usage,
                                fmt::format("--report: {}: {}", folder.string(), error.message())});
  // Problems such as permissions or a full disk show only when a file is written.
  const auto probe = folder / fmt::format(".redzone-{}", ::getpid());
  const auto made = write_file(probe, "x");
  std::filesystem::remove(probe, error);
  if (made) return {};
  return tl::unexpected(
      Error{made.error().kind, fmt::format("--report: {}: cannot create a file in this folder: {}",
                                           folder.string(), made.error().message)});
}

Result<void> write_night(const report::Night& night, const std::filesystem::path& folder) {
  for (const auto& format : report::night_formats()) {
    const auto path = folder / format.file;
    if (const auto written = write_file(path, format.write(night)); !written)
      return harness_error(written.error().message);
  }
  return {};
}

}  // namespace redzone::nightly
