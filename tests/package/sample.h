// A small package in the form that the exporter writes: text, metadata, and a cubin that has the
// sections that are read, but no code.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "core/temporary_folder.h"

namespace redzone::package::test {

// Contents of the cubin of a kernel `add`.
struct CubinParts {
  std::vector<std::size_t> parameter_bytes;
  int arch = 90;
  std::size_t block_threads = 128;
  std::size_t cluster_ctas = 1;
  int abi_version = 7;
};
std::string cubin(const CubinParts& parts);

// Metadata of a cubin with this many CTAs per cluster.
std::string metadata(int ctas);

// target.toml of test.add(x, y, n, rows, factor, BLOCK, RDIM): 144 variants in four cubins. The
// cubins whose name ends in "one" lack the argument n.
std::string description();

// A temporary folder with the whole package, removed at the end.
class SamplePackage {
 public:
  SamplePackage();

  const std::filesystem::path& folder() const { return folder_.path(); }
  void write(const std::string& name, const std::string& text) const;
  std::string read(const std::string& name) const;
  // Replaces the first `from` in the file, which must contain it.
  void edit(const std::string& name, const std::string& from, const std::string& to) const;

 private:
  TemporaryFolder folder_ = TemporaryFolder::create("package").value();
};

}  // namespace redzone::package::test
