// Compiled variants on disk: workers are replaced after every fault, and the new one should not
// compile again what the old one had.
//
// Files are written whole and renamed into place, so processes may share the folder. A file that is
// missing, cut short or altered reads as absent. Nothing here ever fails the caller.
//
// The folder is bounded: a kernel that takes a size as a constant has a variant for each, and a
// night after the other adds some. What was not used for longest goes first.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "device/cuda/compiler.h"

namespace redzone::device::cuda {

class CubinCache {
 public:
  static constexpr std::uintmax_t kDefaultLimit = std::uintmax_t{2} << 30;

  // An empty path: no cache, every load is absent. `limit`: bytes of the entries of all processes,
  // kept to now and then as this one saves, so that it may be passed by a few entries.
  explicit CubinCache(std::filesystem::path folder, std::uintmax_t limit = kDefaultLimit)
      : folder_(std::move(folder)), limit_(limit) {}

  // $REDZONE_CACHE_DIR, else $XDG_CACHE_HOME/redzone, else ~/.cache/redzone; below it "nvrtc".
  // Empty when none of the variables is set.
  static std::filesystem::path default_folder();

  // `key`: hex digits that name source, compiler and architecture.
  std::optional<Cubin> load(const std::string& key) const;
  // Whether there is such a file, which then counts as used. It may be damaged.
  bool has(const std::string& key) const;
  // Whether it is there now.
  bool save(const std::string& key, const Cubin& cubin);

 private:
  // Down to three quarters of the limit where it is passed; and what processes that were killed
  // left half written.
  void shrink() const;

  std::filesystem::path folder_;
  std::uintmax_t limit_;
  int saves_ = 0;
};

}  // namespace redzone::device::cuda
