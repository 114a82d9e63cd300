// Compiled variants on disk: a worker is replaced after every fault, and its successor should not
// compile the same variants again.
//
// Files are written completely and renamed into place, so processes may share the folder. A file
// that is missing, truncated or altered reads as absent. No function fails the caller.
//
// The size of the folder is limited, because a kernel with a size as a constant has a variant for
// each size, and every night adds some. The least recently used files are removed first.
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

  // An empty path disables the cache: every load finds nothing. `limit`: bytes of the entries of
  // all processes, enforced only at some saves, so that a few entries may exceed it.
  explicit CubinCache(std::filesystem::path folder, std::uintmax_t limit = kDefaultLimit)
      : folder_(std::move(folder)), limit_(limit) {}

  // The folder "nvrtc" in $REDZONE_CACHE_DIR, else in $XDG_CACHE_HOME/redzone, else in
  // ~/.cache/redzone. Empty if none of the variables is set.
  static std::filesystem::path default_folder();

  // `key`: hex digits that name source, compiler and architecture.
  std::optional<Cubin> load(const std::string& key) const;
  // Whether the file exists; if so, it counts as used now. The file may be damaged.
  bool has(const std::string& key) const;
  // Returns whether the file exists afterwards.
  bool save(const std::string& key, const Cubin& cubin);

 private:
  // Removes files down to three quarters of the limit if it is exceeded, and half-written files of
  // killed processes.
  void shrink() const;

  std::filesystem::path folder_;
  std::uintmax_t limit_;
  int saves_ = 0;
};

}  // namespace redzone::device::cuda
