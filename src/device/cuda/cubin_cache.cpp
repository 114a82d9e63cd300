#include "device/cuda/cubin_cache.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include "device/cuda/variant_key.h"

namespace redzone::device::cuda {
namespace {

namespace fs = std::filesystem;

// First line of a file; the hash of everything else follows it, then the lowered name, each on a
// line of its own, then the image.
constexpr std::string_view kMagic = "redzone cubin 1";
constexpr const char* kEntry = ".cubin";
constexpr const char* kHalfWritten = ".tmp";

// The folder is scanned at a process's first save and then at every 64th save: scanning many
// entries takes about ten milliseconds, a compilation about a hundred.
constexpr int kSavesPerLook = 64;
// No process takes this long to write one file.
constexpr auto kAbandoned = std::chrono::hours(1);

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

// Removes the first line from `text`.
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
  const fs::path path = folder_ / (key + kEntry);
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::string_view rest = bytes;
  const auto magic = take_line(rest);
  const auto hash = take_line(rest);
  if (!magic || *magic != kMagic || !hash || *hash != content_hash(rest)) return std::nullopt;
  const auto name = take_line(rest);
  if (!name) return std::nullopt;
  std::error_code ignored;
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
  return Cubin{std::string(*name), std::string(rest)};
}

bool CubinCache::has(const std::string& key) const {
  if (folder_.empty()) return false;
  const fs::path path = folder_ / (key + kEntry);
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return false;
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
  return true;
}

bool CubinCache::save(const std::string& key, const Cubin& cubin) {
  if (folder_.empty()) return false;
  std::error_code ignored;
  fs::create_directories(folder_, ignored);
  const std::string body = cubin.lowered_name + "\n" + cubin.image;
  const fs::path temporary = folder_ / fmt::format("{}.{}{}", key, getpid(), kHalfWritten);
  {
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    file << kMagic << '\n' << content_hash(body) << '\n' << body;
    file.close();
    if (!file) {
      fs::remove(temporary, ignored);
      return false;
    }
  }
  std::error_code failed;
  fs::rename(temporary, folder_ / (key + kEntry), failed);
  if (failed) fs::remove(temporary, ignored);
  if (saves_++ % kSavesPerLook == 0) shrink();
  return !failed;
}

void CubinCache::shrink() const {
  struct Entry {
    fs::file_time_type used;
    std::uintmax_t bytes;
    fs::path path;
  };
  std::vector<Entry> entries;
  std::uintmax_t bytes = 0;
  std::error_code failed;
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator it(folder_, failed), end; !failed && it != end;
       it.increment(failed)) {
    // Another process may remove the file at any moment.
    std::error_code gone;
    Entry entry{it->last_write_time(gone), 0, it->path()};
    if (!gone) entry.bytes = it->file_size(gone);
    if (gone) continue;
    if (entry.path.extension() == kHalfWritten && now - entry.used > kAbandoned) {
      fs::remove(entry.path, gone);
    } else if (entry.path.extension() == kEntry) {
      bytes += entry.bytes;
      entries.push_back(std::move(entry));
    }
  }
  if (bytes <= limit_) return;
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (bytes <= limit_ / 4 * 3) break;
    if (fs::remove(entry.path, failed)) bytes -= entry.bytes;
  }
}

}  // namespace redzone::device::cuda
