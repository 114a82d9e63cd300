// The output of cuda-gdb for a core dump.
#include "fuzz/harness.h"
#include "sanitizer/cuda_gdb.h"
#include "sanitizer/fault_access.h"

using namespace redzone;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string output(fuzz::text_of(data, size));
  const Attribution read = sanitizer::read_cuda_gdb(output);
  fuzz::require(text_of(read).find('\n') == std::string::npos, "an attribution is one line");
  const auto access = sanitizer::read_fault_access(output);
  fuzz::require(!access.address || access.access != Access::unknown, "an address is of an access");
  return 0;
}
