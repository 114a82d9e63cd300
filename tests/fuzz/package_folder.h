// A small kernel package on disk; the input replaces one of its files. The folder is in the one for
// temporary files, which scripts/fuzz puts into memory, and is removed at a normal end of the
// process.
#pragma once

#include <filesystem>
#include <string_view>

#include "core/temporary_folder.h"

namespace redzone::fuzz {

class PackageFolder {
 public:
  PackageFolder();
  PackageFolder(const PackageFolder&) = delete;
  PackageFolder& operator=(const PackageFolder&) = delete;

  // Writes a file of the package, such as "target.toml".
  void write(const char* name, std::string_view text) const;
  // Reads the package and makes its targets; false if the package is rejected.
  bool read() const;

 private:
  TemporaryFolder folder_ = TemporaryFolder::create("package-fuzzer").value();
};

}  // namespace redzone::fuzz
