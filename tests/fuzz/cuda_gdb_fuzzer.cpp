// The output of cuda-gdb for a core dump.
#include "engine/cuda_gdb.h"
#include "fuzz/harness.h"

using namespace redzone;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string output(fuzz::text_of(data, size));
  const Attribution read = engine::read_cuda_gdb(output);
  fuzz::require(text_of(read).find('\n') == std::string::npos, "an attribution is one line");
  return 0;
}
