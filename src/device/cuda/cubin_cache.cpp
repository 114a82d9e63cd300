#include "device/cuda/cubin_cache.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "device/cuda/variant_key.h"

namespace redzone::device::cuda {
namespace {

namespace fs = std::filesystem;

// First line of a file; the hash of everything else follows it, then the lowered name, each on a
// line of its own, then the image.
constexpr std::string_view kMagic = "redzone cubin 1";

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

// Cuts the first line off `text`.
std::optional<std::string_view> take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

}  // namespace

fs::path CubinCache::default_folder() {
  if (const char* dir = variable("REDZONE_CACHE_DIR")) return fs::path(dir) / "nvrtc";
  if (const char* dir = variable("XDG_CACHE_HOME")) return fs::path(dir) / "redzone" / "nvrtc";
  if (const char* dir = variable("HOME")) return fs::path(dir) / ".cache" / "redzone" / "nvrtc";
  return {};
}

std::optional<Cubin> CubinCache::load(const std::string& key) const {
  if (folder_.empty()) return std::nullopt;
  std::ifstream file(folder_ / (key + ".cubin"), std::ios::binary);
  if (!file) return std::nullopt;
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::string_view rest = bytes;
  const auto magic = take_line(rest);
  const auto hash = take_line(rest);
  if (!magic || *magic != kMagic || !hash || *hash != content_hash(rest)) return std::nullopt;
  const auto name = take_line(rest);
  if (!name) return std::nullopt;
  return Cubin{std::string(*name), std::string(rest)};
}

void CubinCache::save(const std::string& key, const Cubin& cubin) const {
  if (folder_.empty()) return;
  std::error_code ignored;
  fs::create_directories(folder_, ignored);
  const std::string body = cubin.lowered_name + "\n" + cubin.image;
  const fs::path temporary = folder_ / fmt::format("{}.{}.tmp", key, getpid());
  {
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    file << kMagic << '\n' << content_hash(body) << '\n' << body;
    file.close();
    if (!file) {
      fs::remove(temporary, ignored);
      return;
    }
  }
  std::error_code failed;
  fs::rename(temporary, folder_ / (key + ".cubin"), failed);
  if (failed) fs::remove(temporary, ignored);
}

}  // namespace redzone::device::cuda
