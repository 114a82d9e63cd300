// Triton's metadata of a compiled kernel: the JSON file next to a sound cubin.
#include "package/metadata.h"

#include "core/table_reader.h"
#include "fuzz/harness.h"
#include "package/sample.h"

using namespace redzone;

namespace {

constexpr int kWarps = 4, kCtas = 1;

std::string image() {
  package::test::CubinParts parts;
  parts.parameter_bytes = {8, 4, 4, 8, 8};
  parts.block_threads = kWarps * 32;
  parts.cluster_ctas = kCtas;
  return package::test::cubin(parts);
}

package::Package description() {
  package::Package made;
  made.kernel = "add";
  made.arch = 90;
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string cubin = image();
  static const package::Package target = description();
  const std::string text(fuzz::text_of(data, size));
  try {
    const package::Compiled read = package::compiled_of(target, "add", cubin, text);
    fuzz::require(read.warps == kWarps && read.ctas == kCtas, "metadata agree with the cubin");
    for (const auto& scratch : {read.global, read.profile})
      fuzz::require(scratch.align >= 1 && (scratch.align & (scratch.align - 1)) == 0,
                    "an alignment is a power of two");
  } catch (const FieldError&) {
    // The metadata are rejected.
  }
  return 0;
}
