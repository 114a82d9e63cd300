// A small kernel package on the disk, of which one file is the input. The folder is in that for
// temporary files, which scripts/fuzz puts into memory; it is removed when the process
// ends in order.
#pragma once

#include <filesystem>
#include <string_view>

namespace redzone::fuzz {

class PackageFolder {
 public:
  PackageFolder();
  ~PackageFolder();
  PackageFolder(const PackageFolder&) = delete;
  PackageFolder& operator=(const PackageFolder&) = delete;

  // "target.toml" of a sound package, or the input.
  void write(const char* name, std::string_view text) const;
  // Reads the package and makes its targets; false if it is not sound.
  bool read() const;

 private:
  std::filesystem::path folder_;
};

}  // namespace redzone::fuzz
