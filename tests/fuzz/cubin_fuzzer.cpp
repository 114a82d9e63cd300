// A compiled kernel: the ELF image of a cubin.
#include "package/cubin.h"

#include "fuzz/harness.h"

using namespace redzone;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A copy of exactly these bytes, so a read past the end is detected.
  const std::string image(fuzz::text_of(data, size));
  const auto facts = package::read_cubin(image, "add");
  if (facts) fuzz::require(facts->arch >= 0 && facts->arch < 256, "an architecture is a byte");
  return 0;
}
