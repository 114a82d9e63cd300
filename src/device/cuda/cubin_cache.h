// Compiled variants on disk: workers are replaced after every fault, and the new one should not
// compile again what the old one had.
//
// Files are written whole and renamed into place, so processes may share the folder. A file that is
// missing, cut short or altered reads as absent. Nothing here ever fails the caller.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "device/cuda/compiler.h"

namespace redzone::device::cuda {

class CubinCache {
 public:
  // An empty path: no cache, every load is absent.
  explicit CubinCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // $REDZONE_CACHE_DIR, else $XDG_CACHE_HOME/redzone, else ~/.cache/redzone; below it "nvrtc".
  // Empty when none of the variables is set.
  static std::filesystem::path default_folder();

  // `key`: hex digits that name source, compiler and architecture.
  std::optional<Cubin> load(const std::string& key) const;
  void save(const std::string& key, const Cubin& cubin) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace redzone::device::cuda
