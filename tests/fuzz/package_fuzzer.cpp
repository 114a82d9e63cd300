// The description of a kernel package: target.toml, next to a sound cubin.
#include "fuzz/harness.h"
#include "fuzz/package_folder.h"

using namespace redzone;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::PackageFolder folder;
  folder.write("target.toml", fuzz::text_of(data, size));
  folder.read();
  return 0;
}
