// A package as the exporter writes one, small and made here: text, metadata and a cubin that has
// the sections that are read, and no code.
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

// Of cubins with this many CTAs in a cluster.
std::string metadata(int ctas);

// target.toml of test.add(x, y, n, rows, factor, BLOCK, RDIM): 144 variants in four cubins, those
// of which the name ends in "one" without n.
std::string description();

// A folder of its own with all of it, removed at the end.
class SamplePackage {
 public:
  SamplePackage();

  const std::filesystem::path& folder() const { return folder_.path(); }
  void write(const std::string& name, const std::string& text) const;
  std::string read(const std::string& name) const;
  // Replaces the first `from` in the file; it must be there.
  void edit(const std::string& name, const std::string& from, const std::string& to) const;

 private:
  TemporaryFolder folder_ = TemporaryFolder::create("package").value();
};

}  // namespace redzone::package::test
